//===- HtmlReport.cpp - results as one page ---------------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The roofline is drawn here as SVG: arithmetic intensity (FLOP a byte that must move) against
// TFLOP/s, both logarithmic, under the ceilings that were measured in the same session.
//
//===----------------------------------------------------------------------===//

#include "HtmlReport.h"
#include "tessera/runtime/Error.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>

namespace tessera::tools {

namespace {

std::string escape(const std::string &text) {
  std::string out;
  for (char c : text) {
    switch (c) {
    case '&':
      out += "&amp;";
      break;
    case '<':
      out += "&lt;";
      break;
    case '>':
      out += "&gt;";
      break;
    case '"':
      out += "&quot;";
      break;
    default:
      out += c;
    }
  }
  return out;
}

/// FLOP for each byte that must move; 0 where either is not known.
double intensity(const Report &report) {
  return report.gbs > 0 ? report.tflops * 1e3 / report.gbs : 0;
}

const char *colourOf(Regime regime) {
  switch (regime) {
  case Regime::compute:
    return "#c2410c";
  case Regime::memory:
    return "#1d4ed8";
  case Regime::overhead:
    return "#6b7280";
  }
  return "#000000";
}

/// A logarithmic axis over pixels.
struct Axis {
  double low, high, from, to;
  double operator()(double value) const {
    const double share =
        (std::log10(value) - std::log10(low)) / (std::log10(high) - std::log10(low));
    return from + share * (to - from);
  }
};

std::string roofline(const Machine &machine, const std::vector<Outcome> &outcomes) {
  std::map<std::string, double> ceilings;
  double lowX = 0.1, highX = 10, lowY = 0.01, highY = 1;
  for (const Outcome &outcome : outcomes) {
    const Report &report = outcome.report;
    if (report.computeCeiling > 0)
      ceilings[report.dtype] = std::max(ceilings[report.dtype], report.computeCeiling);
    if (const double x = intensity(report); x > 0 && report.tflops > 0) {
      lowX = std::min(lowX, x / 2), highX = std::max(highX, x * 2);
      lowY = std::min(lowY, report.tflops / 2), highY = std::max(highY, report.tflops * 2);
    }
  }
  for (const auto &[unit, rate] : ceilings)
    highY = std::max(highY, rate * 1.5);
  const Axis x{lowX, highX, 60, 780}, y{lowY, highY, 400, 20};

  std::string svg = R"(<svg viewBox="0 0 800 450" role="img" aria-label="roofline">)";
  for (double tick = std::pow(10, std::ceil(std::log10(lowX))); tick <= highX; tick *= 10)
    svg += fmt::format(R"(<line class="grid" x1="{0:.1f}" x2="{0:.1f}" y1="20" y2="400"/>)"
                       R"(<text x="{0:.1f}" y="418" text-anchor="middle">{1:g}</text>)",
                       x(tick), tick);
  for (double tick = std::pow(10, std::ceil(std::log10(lowY))); tick <= highY; tick *= 10)
    svg += fmt::format(R"(<line class="grid" x1="60" x2="780" y1="{0:.1f}" y2="{0:.1f}"/>)"
                       R"(<text x="54" y="{0:.1f}" text-anchor="end" dy="4">{1:g}</text>)",
                       y(tick), tick);
  svg +=
      R"(<text x="420" y="442" text-anchor="middle">FLOP / byte</text>)"
      R"-(<text x="14" y="210" text-anchor="middle" transform="rotate(-90 14 210)">TFLOP/s</text>)-";
  double top = highY;
  for (const auto &[unit, rate] : ceilings) {
    const double knee = machine.copyGBs > 0 ? rate * 1e3 / machine.copyGBs : lowX;
    if (knee < highX)
      svg +=
          fmt::format(R"(<line class="roof" x1="{:.1f}" x2="780" y1="{:.1f}" y2="{:.1f}"/>)"
                      R"(<text x="776" y="{:.1f}" text-anchor="end">{} {:.0f}</text>)",
                      x(std::max(knee, lowX)), y(rate), y(rate), y(rate) - 4, escape(unit), rate);
    top = std::max(rate, top == highY ? rate : top);
  }
  if (machine.copyGBs > 0) {
    const double from = std::max(lowX, lowY * 1e3 / machine.copyGBs);
    const double to = std::min(highX, top * 1e3 / machine.copyGBs);
    if (from < to)
      svg += fmt::format(R"(<line class="roof" x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}"/>)",
                         x(from), y(from * machine.copyGBs / 1e3), x(to),
                         y(to * machine.copyGBs / 1e3));
  }
  for (const Outcome &outcome : outcomes) {
    const Report &report = outcome.report;
    if (const double at = intensity(report); at > 0 && report.tflops > 0)
      svg += fmt::format(
          R"(<circle cx="{:.1f}" cy="{:.1f}" r="5" fill="{}"><title>{}</title></circle>)", x(at),
          y(report.tflops), colourOf(report.regime), escape(report.format()));
  }
  return svg + "</svg>";
}

std::string row(const Outcome &outcome) {
  const Report &report = outcome.report;
  auto share = [](double value) {
    return value > 0 ? fmt::format("{:.0f} %", value * 100) : std::string("–");
  };
  return fmt::format(
      "<tr><td>{}</td><td>{}</td><td>{}</td><td>{:.4g}</td><td>{:.1f} %</td><td>{:.3g}</td><td>{}"
      "</td><td>{:.0f}</td><td>{}</td><td style=\"color:{}\">{}</td><td>{}</td><td>{:.1e} of {:.0e}"
      "</td><td>{}</td></tr>\n",
      escape(report.kernel), escape(report.shape), escape(report.dtype), report.timing.median,
      report.timing.spread * 100, report.tflops, share(report.computeShare), report.gbs,
      share(report.memoryShare), colourOf(report.regime), nameOf(report.regime),
      escape(report.reason), outcome.error, outcome.tolerance,
      outcome.right() ? "right" : "<b>wrong</b>");
}

} // namespace

std::string htmlReport(const Machine &machine, const std::vector<Outcome> &outcomes) {
  std::string page =
      fmt::format(R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Tessera on {0}</title><style>
body {{ font: 14px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 80rem; color: #111; }}
table {{ border-collapse: collapse; font-variant-numeric: tabular-nums; }}
th, td {{ padding: .25rem .6rem; border-bottom: 1px solid #ddd; text-align: left; }}
svg {{ width: 100%; max-width: 60rem; font-size: 11px; }}
.grid {{ stroke: #eee; }} .roof {{ stroke: #111; stroke-width: 1.5; }}
</style></head><body>
<h1>Tessera {1} on {0}</h1>
<p>{2} · target {3} · driver {4} · copy ceiling {5:.0f} GB/s</p>
<p>Each kernel was compared with a float64 reference before it was timed. GB/s counts each byte that
must move once; the shares are of ceilings measured on this device.</p>
)",
                  escape(machine.device), escape(machine.version), escape(machine.date),
                  escape(machine.target), escape(machine.driver), machine.copyGBs);
  page += roofline(machine, outcomes);
  page += "<table><thead><tr><th>kernel</th><th>shape</th><th>dtype</th><th>ms</th><th>spread</th>"
          "<th>TFLOP/s</th><th>of ceiling</th><th>GB/s</th><th>of copy</th><th>bound by</th>"
          "<th>because</th><th>error</th><th>result</th></tr></thead><tbody>\n";
  for (const Outcome &outcome : outcomes)
    page += row(outcome);
  return page + "</tbody></table></body></html>\n";
}

std::string jsonReport(const Machine &machine, const std::vector<Outcome> &outcomes) {
  using nlohmann::json;
  json results = json::array();
  for (const Outcome &outcome : outcomes) {
    const Report &report = outcome.report;
    json entry = {{"kernel", report.kernel},
                  {"shape", report.shape},
                  {"dtype", report.dtype},
                  {"mode", nameOf(report.timing.mode)},
                  {"ms", report.timing.median},
                  {"ms_min", report.timing.minimum},
                  {"spread", report.timing.spread},
                  {"samples", report.timing.samples},
                  {"tflops", report.tflops},
                  {"gbs", report.gbs},
                  {"compute_ceiling", report.computeCeiling},
                  {"memory_ceiling", report.memoryCeiling},
                  {"regime", nameOf(report.regime)},
                  {"reason", report.reason},
                  {"error", outcome.error},
                  {"tolerance", outcome.tolerance},
                  {"checked", outcome.checked},
                  {"unwritten", outcome.unwritten},
                  {"right", outcome.right()},
                  {"compile_ms", outcome.compileMs},
                  {"note", outcome.note}};
    if (report.image) {
      entry["registers"] = report.image->report.registers;
      entry["spill_bytes"] = report.image->report.spillBytes;
      entry["shared_bytes"] = report.image->sharedBytes;
      entry["advisories"] = report.image->report.advisories;
      entry["remarks"] = report.image->report.remarks;
      entry["stage_ms"] = report.image->report.stageMs;
    }
    results.push_back(std::move(entry));
  }
  json document = {{"machine",
                    {{"device", machine.device},
                     {"target", machine.target},
                     {"driver", machine.driver},
                     {"date", machine.date},
                     {"version", machine.version},
                     {"copy_gbs", machine.copyGBs}}},
                   {"results", std::move(results)}};
  return document.dump(2) + "\n";
}

} // namespace tessera::tools
