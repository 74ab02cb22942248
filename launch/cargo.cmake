# Has Cargo build Cortex, from CMakeLists.txt: CARGO with PROFILE into TARGET, with the interface packages PACKAGES, for an
# installation in OWN_PREFIX.
#
# Cargo makes the Rust bindings of interfaces anew when a variable changes that r2r's build scripts watch. They watch no
# file. So all that the bindings are made from has to be in these variables, and nothing else should.

cmake_minimum_required(VERSION 3.16)

# A workspace that was sourced has its folders in these lists more than once, and that of Cortex itself, which counts only
# where interfaces are in it, too, as with `--merge-install`.
foreach(PACKAGE IN LISTS PACKAGES)
  if(EXISTS "${OWN_PREFIX}/share/${PACKAGE}")
    set(OWN_PREFIX "")
  endif()
endforeach()
foreach(LIST AMENT_PREFIX_PATH CMAKE_PREFIX_PATH)
  string(REPLACE ":" ";" FOLDERS "$ENV{${LIST}}")
  list(REMOVE_DUPLICATES FOLDERS)
  list(REMOVE_ITEM FOLDERS "" "${OWN_PREFIX}")
  string(REPLACE ";" ":" FOLDERS "${FOLDERS}")
  set(ENV{${LIST}} "${FOLDERS}")
endforeach()

# Interfaces change in place, where a workspace is built again or a distribution is updated: structures would have another
# form in Cortex than in the libraries that it loads. A digest of them is the name of one more package to compile in; r2r
# watches the list of these, and leaves out what there is not.
set(DIGESTS "")
string(REPLACE ":" ";" FOLDERS "$ENV{AMENT_PREFIX_PATH}")
foreach(PACKAGE IN LISTS PACKAGES)
  foreach(FOLDER IN LISTS FOLDERS)
    set(SHARE "${FOLDER}/share/${PACKAGE}")
    if(EXISTS "${SHARE}")
      # The first one that has it is the one that all others find, too.
      file(GLOB FILES LIST_DIRECTORIES false RELATIVE "${SHARE}" "${SHARE}/msg/*" "${SHARE}/srv/*" "${SHARE}/action/*")
      foreach(FILE IN LISTS FILES)
        file(SHA256 "${SHARE}/${FILE}" DIGEST)
        string(APPEND DIGESTS "${PACKAGE}/${FILE} ${DIGEST}\n")
      endforeach()
      break()
    endif()
  endforeach()
endforeach()
string(SHA256 DIGEST "${DIGESTS}")
set(ENV{IDL_PACKAGE_FILTER} "${PACKAGES};digest_${DIGEST}")

execute_process(
  COMMAND "${CARGO}" build --locked --profile "${PROFILE}" --target-dir "${TARGET}"
    --package cortex --bin cortex --package cortex-on-ros --bin cortex-on-ros --package cortex-sim --bin cortex-sim
  RESULT_VARIABLE STATUS
)
if(NOT STATUS EQUAL 0)
  message(FATAL_ERROR "Cargo could not build Cortex (${STATUS}); what it said stands above")
endif()
