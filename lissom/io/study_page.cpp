#include "lissom/io/study_page.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "lissom/core/text.hpp"

namespace lissom {

namespace {

class Page {
 public:
  std::string write() {
    find_words();
    std::string text;
    std::string_view rest = study_page_prose;
    while (!rest.empty()) {
      const size_t end = std::min(rest.find('\n'), rest.size());
      const std::string_view line = rest.substr(0, end);
      rest.remove_prefix(std::min(end + 1, rest.size()));
      text += line.starts_with('@') ? table(line) : std::string(line) + "\n";
    }
    check();
    return text;
  }

 private:
  static const TableSchema& schema(std::string_view name) {
    for (const TableSchema* table : all_tables(study_schema()))
      if (table->name == (name == "ROOT" ? "" : name)) return *table;
    assertion_failed(fmt::format("the schema has a table '{}', which the page names", name).c_str(), __FILE__,
                     __LINE__);
  }

  // Keys whose words have a table of their own.
  void find_words() {
    std::string_view rest = study_page_prose;
    for (size_t at = rest.find("\n@words "); at != std::string_view::npos; at = rest.find("\n@words ")) {
      rest.remove_prefix(at + 8);
      const auto fields = split_blanks(rest.substr(0, rest.find('\n')));
      for (const KeySchema* key : schema(fields[0]).find(fields[1])) apart_.insert(key);
    }
  }

  std::string table(std::string_view line) {
    const auto fields = split_blanks(line);
    LISSOM_ASSERT(fields.size() >= 2);
    const TableSchema& table = schema(fields[1]);
    const std::string word = fields.size() > 2 ? std::string(fields[2]) : "";
    if (fields[0] == "@words") return words(table, word);
    const bool only = fields[0] == "@only";
    // where keys depend on a word that is not given, a column says on which
    const bool with = word.empty() && !table.depends_on.empty() &&
                      std::any_of(table.keys.begin(), table.keys.end(),
                                  [](const KeySchema& key) { return !key.when.empty(); });
    std::string text =
        with ? fmt::format("| key | with {} | kind | default | meaning |\n|---|---|---|---|---|\n",
                           table.depends_on)
             : std::string("| key | kind | default | meaning |\n|---|---|---|---|\n");
    for (const auto* entries : {&table.keys, &table.others})
      for (const KeySchema& key : *entries) {
        if (!key.listed) continue;
        const bool goes = key.when.empty() ? !only
                                           : word.empty() || std::find(key.when.begin(), key.when.end(),
                                                                       word) != key.when.end();
        if (goes) text += row(key, with);
      }
    return text;
  }

  std::string row(const KeySchema& key, bool with) {
    shown_.insert(&key);
    std::string meaning = key.meaning;
    if (!apart_.contains(&key) && !key.choices.empty()) {
      std::vector<std::string> listed;
      for (const WordSchema& choice : key.choices)
        if (choice.listed)
          listed.push_back(choice.meaning.empty() ? fmt::format("`\"{}\"`", choice.word)
                                                  : fmt::format("`\"{}\"`: {}", choice.word, choice.meaning));
      meaning += fmt::format(": {}", fmt::join(listed, "; "));
    }
    const std::string words = with ? fmt::format("{} | ", fmt::join(key.when, ", ")) : "";
    const std::string otherwise = fallback_text(key);
    return fmt::format("| `{}` | {}{} | {}{}{} |\n", key.name, words, kind_words(key), otherwise,
                       otherwise.empty() ? "| " : " | ", meaning);
  }

  static std::string words(const TableSchema& table, const std::string& name) {
    std::string text = "| word | meaning |\n|---|---|\n";
    for (const WordSchema& choice : table.find(name).front()->choices)
      if (choice.listed) text += fmt::format("| `\"{}\"` | {} |\n", choice.word, choice.meaning);
    return text;
  }

  // Nothing is left out.
  void check() const {
    for (const TableSchema* table : all_tables(study_schema()))
      for (const auto* entries : {&table->keys, &table->others})
        for (const KeySchema& key : *entries)
          if (key.listed && !shown_.contains(&key))
            assertion_failed(
                fmt::format("the page of study files has '{}' of '{}'", key.name, table->name).c_str(),
                __FILE__, __LINE__);
  }

  std::set<const KeySchema*> apart_, shown_;
};

}  // namespace

std::string study_page() {
  return Page().write();
}

}  // namespace lissom
