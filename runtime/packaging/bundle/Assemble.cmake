# Script: puts the bundle's folder together and checks that the binary needs libc and libm only.
execute_process(COMMAND readelf -d ${BINARY} OUTPUT_VARIABLE dynamic COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "Shared library: \\[[^]]+\\]" needed "${dynamic}")
list(TRANSFORM needed REPLACE "Shared library: \\[(.*)\\]" "\\1")
list(FILTER needed EXCLUDE REGEX "^(libc|libm|ld-linux-x86-64|libdl|libpthread|librt)\\.so")
if(needed)
  message(FATAL_ERROR "expected the bundle to need libc and libm only, got ${needed}")
endif()

file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER}/bin)
file(COPY_FILE ${BINARY} ${FOLDER}/bin/tessera-bundle)
if(PTXCOMPILER)
  file(COPY ${PTXCOMPILER} DESTINATION ${FOLDER}/lib)
endif()
file(COPY ${SOURCE}/run-gpu DESTINATION ${FOLDER})
foreach(tool IN LISTS TOOLS ITEMS tessera-tests)
  # Scripts, not links: a bundle travels by ways that drop links. The name given is a whole path, so
  # that a death test can start the script again.
  file(WRITE ${FOLDER}/bin/${tool}
    "#!/usr/bin/env bash\nbin=$(cd \"$(dirname \"\${BASH_SOURCE[0]}\")\" && pwd)\nexec -a \"$bin/${tool}\" \"$bin/tessera-bundle\" \"$@\"\n")
  file(CHMOD ${FOLDER}/bin/${tool} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE
    GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
endforeach()
