// What the verifiers refuse, in the words that users see.
// RUN: tessera-opt %s --split-input-file --verify-diagnostics

func.func @no_fourth_axis() {
  // expected-error@+1 {{attribute 'axis' failed to satisfy constraint}}
  %pid = tile.program_id 3 : i64
  return
}
