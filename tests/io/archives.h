// SPDX-License-Identifier: Apache-2.0
// The bytes of .npy, .npz and .safetensors files, made by their definitions.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/io/files.h"

namespace kgtest {

/// A .npy by the definition in numpy.lib.format: of version 1, whose header is padded to a multiple of 64 bytes.
inline std::string npy(std::string header, const std::string& elements) {
  while ((10 + header.size() + 1) % 64) header += ' ';
  header += '\n';
  return std::string("\x93NUMPY\x01") + '\0' + little(static_cast<std::uint16_t>(header.size())) + header + elements;
}
inline std::string npy(const std::string& type, const std::string& order, const std::string& dims,
                       const std::string& elements) {
  return npy("{'descr': '" + type + "', 'fortran_order': " + order + ", 'shape': " + dims + ", }", elements);
}

/// A .safetensors: the length of the header, the header, the elements.
inline std::string safetensors(const std::string& header, const std::string& elements) {
  return little(std::uint64_t{header.size()}) + header + elements;
}

/// A stored archive by PKWARE's APPNOTE: local headers with the members, the directory, its end. Encryption puts 12
/// bytes before a member.
struct zip_member {
  std::string name, bytes;
  std::uint32_t crc = 0, claimed = 0;
  std::uint16_t method = 0, flags = 0;
};
inline std::string zip(const std::vector<zip_member>& members) {
  std::string all, directory;
  for (const zip_member& m : members) {
    const std::string common = little(m.flags) + little(m.method) + little(std::uint16_t{0}) +
                               little(std::uint16_t{0x21}) + little(m.crc) +
                               little(static_cast<std::uint32_t>(m.bytes.size())) +
                               little(m.claimed ? m.claimed : static_cast<std::uint32_t>(m.bytes.size())) +
                               little(static_cast<std::uint16_t>(m.name.size())) + little(std::uint16_t{0});
    directory += "PK\1\2" + little(std::uint16_t{20}) + little(std::uint16_t{20}) + common + little(std::uint16_t{0}) +
                 little(std::uint16_t{0}) + little(std::uint16_t{0}) + little(std::uint32_t{0}) +
                 little(static_cast<std::uint32_t>(all.size())) + m.name;
    all += "PK\3\4" + little(std::uint16_t{20}) + common + m.name + m.bytes;
  }
  const auto count = static_cast<std::uint16_t>(members.size());
  return all + directory + "PK\5\6" + little(std::uint32_t{0}) + little(count) + little(count) +
         little(static_cast<std::uint32_t>(directory.size())) + little(static_cast<std::uint32_t>(all.size())) +
         little(std::uint16_t{0});
}
/// CRC-32 by its polynomial.
inline std::uint32_t crc_of(std::string_view bytes) {
  std::uint32_t crc = ~0u;
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
  }
  return ~crc;
}

}  // namespace kgtest
