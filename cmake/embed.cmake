# SPDX-License-Identifier: Apache-2.0
# Writes the text file IN as the C constant lacis_text_ID to OUT.
file(READ "${IN}" hex HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
file(WRITE "${OUT}" "extern const char lacis_text_${ID}[];\nconst char lacis_text_${ID}[] = {${bytes}0};\n")
