#include "base/text.hh"

#include <algorithm>

namespace treeglot {

namespace {

std::string hexadecimal(unsigned char byte) {
  constexpr char kDigits[] = "0123456789abcdef";
  return {'0', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
}

}  // namespace

std::size_t find_bad_utf8(std::string_view text) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  const std::size_t size = text.size();
  std::size_t i = 0;
  while (i < size) {
    const unsigned char lead = bytes[i];
    if (lead < 0x80) {
      while (i + 8 <= size && (load_word(text.data() + i) & kHighBits) == 0) i += 8;
      while (i < size && bytes[i] < 0x80) ++i;
      continue;
    }
    // The second byte's bounds keep out overlong forms, surrogates and anything above U+10FFFF.
    std::size_t length;
    unsigned char low = 0x80;
    unsigned char high = 0xBF;
    if (lead >= 0xC2 && lead <= 0xDF) {
      length = 2;
    } else if (lead >= 0xE0 && lead <= 0xEF) {
      length = 3;
      if (lead == 0xE0) low = 0xA0;
      if (lead == 0xED) high = 0x9F;
    } else if (lead >= 0xF0 && lead <= 0xF4) {
      length = 4;
      if (lead == 0xF0) low = 0x90;
      if (lead == 0xF4) high = 0x8F;
    } else {
      return i;
    }
    if (size - i < length || bytes[i + 1] < low || bytes[i + 1] > high) return i;
    for (std::size_t k = 2; k < length; ++k) {
      if ((bytes[i + k] & 0xC0) != 0x80) return i;
    }
    i += length;
  }
  return size;
}

std::size_t count_characters(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

void check_text(std::string_view line, std::size_t number) {
  if (const std::size_t nul = line.find('\0'); nul != std::string_view::npos) {
    throw InputError(number, count_characters(line.substr(0, nul)) + 1, "a NUL byte",
                     "the file is binary or damaged; convert it to UTF-8 text");
  }
  if (const std::size_t bad = find_bad_utf8(line); bad != line.size()) {
    throw InputError(number, count_characters(line.substr(0, bad)) + 1,
                     "not UTF-8 (byte " + hexadecimal(static_cast<unsigned char>(line[bad])) + ")",
                     "convert the file first, for example with: iconv -f latin1 -t utf-8");
  }
}

std::string shown(std::string_view text) {
  constexpr std::size_t kLimit = 40;
  if (text.size() <= kLimit) return std::string(text);
  std::size_t end = kLimit;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return std::string(text.substr(0, end)) + "…";
}

std::string quoted(std::string_view text) { return std::string("'").append(shown(text)).append("'"); }

void LineScanner::feed(std::string_view bytes) {
  buffer_.erase(0, position_);
  searched_ -= position_;
  position_ = 0;
  buffer_.append(bytes);
}

bool LineScanner::next(std::string_view& line) {
  const std::size_t size = buffer_.size();
  const void* end_of_line =
      searched_ < size ? std::memchr(buffer_.data() + searched_, '\n', size - searched_) : nullptr;
  const bool ended = end_of_line != nullptr;
  const std::size_t end =
      ended ? static_cast<std::size_t>(static_cast<const char*>(end_of_line) - buffer_.data()) : size;
  const auto refuse_long = [this](std::size_t number) {
    std::string limit = std::to_string(max_bytes_);
    for (std::size_t at = limit.size(); at > 3;) limit.insert(at -= 3, 1, ',');
    throw InputError(number, 0, "the line is longer than " + limit + " bytes",
                     "split the line, or check that the file has the format you named");
  };
  // A byte-order mark and a carriage return do not count.
  if (end - position_ > max_bytes_ + kBom.size() + 1) refuse_long(number_ + 1);
  if (!ended && (!finished_ || position_ == size)) {
    searched_ = size;
    return false;
  }
  line = std::string_view(buffer_).substr(position_, end - position_);
  position_ = searched_ = ended ? end + 1 : size;
  ++number_;
  if (number_ == 1 && line.starts_with(kBom)) line.remove_prefix(kBom.size());
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (line.size() > max_bytes_) refuse_long(number_);
  if (!is_plain_ascii(line)) check_text(line, number_);
  return true;
}

}  // namespace treeglot
