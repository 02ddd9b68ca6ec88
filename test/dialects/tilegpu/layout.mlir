// RUN: tessera-opt %s | tessera-opt | FileCheck %s

// CHECK-DAG: #[[MMA:layout[0-9]*]] = #tilegpu.layout<{register = {{\[}}[0, 1], [8, 0]], lane = {{\[}}[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []}>
#mma = #tilegpu.layout<{register = [[0, 1], [8, 0]],
                        lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []}>
// CHECK-DAG: #[[SAME:layout[0-9]*]] = #tilegpu.layout<{register = {{\[}}[1]], lane = {{\[}}[0], [0], [0], [0], [0]]} -> [4]>
#same = #tilegpu.layout<{register = [[1]], lane = [[0], [0], [0], [0], [0]]} -> [4]>
// The shape is left out where the bases say it.
// CHECK-DAG: #[[FULL:layout[0-9]*]] = #tilegpu.layout<{offset = {{\[}}[0, 1], [1, 1]]}>
#full = #tilegpu.layout<{offset = [[0, 1], [1, 1]]} -> [2, 2]>

// CHECK: func.func @roundtrip(%{{.*}}: tensor<16x8xf32, #[[MMA]]>, %{{.*}}: tensor<4xf32, #[[SAME]]>, %{{.*}}: !tilegpu.memdesc<2x2xf32, #[[FULL]]>)
func.func @roundtrip(%a: tensor<16x8xf32, #mma>, %b: tensor<4xf32, #same>,
                     %c: !tilegpu.memdesc<2x2xf32, #full>) {
  return
}
