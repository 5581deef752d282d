// Where the sentences of a text begin: one rule for the search for passages and for single sentences.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace doublet {

constexpr uint8_t kSentence = 1;                    // mark of a word that begins a sentence
constexpr size_t kLeastSentence = 3, kLongestSentence = 60;

// Appends the first words of the sentences, and the end. Short sentences join the next, long ones are cut.
inline void cut_sentences(const uint8_t* marks, size_t size, std::vector<uint32_t>& out) {
  size_t last = 0;
  out.push_back(0);
  for (size_t i = 1; i < size; ++i) {
    const size_t before = i - last;
    if (((marks[i] & kSentence) && before >= kLeastSentence) || before >= kLongestSentence) {
      out.push_back(static_cast<uint32_t>(i));
      last = i;
    }
  }
  out.push_back(static_cast<uint32_t>(size));
}

}  // namespace doublet
