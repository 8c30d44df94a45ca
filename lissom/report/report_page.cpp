#include "lissom/report/report_page.hpp"

#include <fmt/format.h>
#include <zlib.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>
#include <span>
#include <unordered_map>

#include "lissom/core/atomic_file.hpp"
#include "lissom/core/text.hpp"
#include "lissom/io/view_thinning.hpp"
#include "lissom/report/page_assets.hpp"

namespace lissom {

namespace {

using json = nlohmann::json;

// Names come from files of all kinds: bytes that are no text and markup are shown, not obeyed.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) switch (c) {
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
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  return out;
}

// An id of HTML: letters, digits and dashes.
std::string safe_id(std::string_view text) {
  std::string out;
  for (const char c : text)
    out += std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' ? c : '-';
  return out.empty() ? "x" : out;
}

// Within a script no name can end it.
std::string script_json(const json& value) {
  const std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (c == '<')
      out += "\\u003c";
    else
      out += c;
  }
  return out;
}

std::string base64(std::span<const unsigned char> bytes) {
  static constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const unsigned a = bytes[i], b = i + 1 < bytes.size() ? bytes[i + 1] : 0,
                   c = i + 2 < bytes.size() ? bytes[i + 2] : 0;
    out += digits[a >> 2];
    out += digits[(a & 3) << 4 | b >> 4];
    out += i + 1 < bytes.size() ? digits[(b & 15) << 2 | c >> 6] : '=';
    out += i + 2 < bytes.size() ? digits[c & 63] : '=';
  }
  return out;
}

std::string deflated(std::string_view bytes) {
  uLongf size = compressBound(bytes.size());
  std::vector<unsigned char> out(size);
  const int code =
      compress2(out.data(), &size, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(), 6);
  if (code != Z_OK) fail("the numbers of the report cannot be compressed (zlib {})", code);
  return base64({out.data(), size});
}

template <class T>
constexpr const char* type_name() {
  if constexpr (std::is_same_v<T, float>) return "f32";
  if constexpr (std::is_same_v<T, double>) return "f64";
  if constexpr (std::is_same_v<T, std::uint32_t>) return "u32";
  if constexpr (std::is_same_v<T, std::int16_t>) return "i16";
}

// The numbers of a page: large arrays each for itself, the same ones once; small ones together.
class Blobs {
 public:
  template <class T>
  json add(std::span<const T> values) {
    const std::string_view bytes(reinterpret_cast<const char*>(values.data()), values.size_bytes());
    json array = {{"type", type_name<T>()}, {"count", values.size()}};
    if (bytes.size() >= small) {
      const size_t hash = std::hash<std::string_view>()(bytes);
      auto [first, last] = known_.equal_range(hash);
      for (; first != last; ++first)
        if (contents_.at(first->second) == bytes) break;
      if (first == last) {
        first = known_.emplace(hash, write(bytes));
        contents_[first->second] = bytes;
      }
      array["blob"] = fmt::format("b{}", first->second);
      array["at"] = 0;
      return array;
    }
    if (shared_.size() + bytes.size() > most_shared) flush();
    if (shared_number_ < 0) shared_number_ = reserve();
    array["blob"] = fmt::format("b{}", shared_number_);
    array["at"] = shared_.size();
    shared_ += bytes;
    shared_.resize((shared_.size() + 7) / 8 * 8);
    return array;
  }
  template <class T>
  json add(const std::vector<T>& values) {
    return add(std::span<const T>(values));
  }

  void flush() {
    if (shared_number_ < 0) return;
    encoded_[static_cast<size_t>(shared_number_)] = deflated(shared_);
    shared_.clear();
    shared_number_ = -1;
  }
  // Base64 of the blobs, b0, b1, ...; after flush().
  const std::vector<std::string>& encoded() const { return encoded_; }

 private:
  static constexpr size_t small = 1 << 15, most_shared = 1 << 20;
  int reserve() {
    encoded_.emplace_back();
    return static_cast<int>(encoded_.size()) - 1;
  }
  int write(std::string_view bytes) {
    const int number = reserve();
    encoded_.back() = deflated(bytes);
    return number;
  }

  std::vector<std::string> encoded_;
  std::unordered_multimap<size_t, int> known_;
  std::map<int, std::string> contents_;
  std::string shared_;
  int shared_number_ = -1;
};

const char* name_of(ReportSeries::Style style) {
  switch (style) {
    case ReportSeries::Style::Line:
      return "line";
    case ReportSeries::Style::Dashed:
      return "dashed";
    case ReportSeries::Style::Points:
      return "points";
    case ReportSeries::Style::LinePoints:
      return "linepoints";
  }
  return "line";
}

json figure_json(const ReportFigure& figure, Blobs& blobs) {
  json out = {{"id", safe_id(figure.id)},
              {"title", printable(figure.title)},
              {"x", {{"label", printable(figure.x.label)}, {"log", figure.x.log}}},
              {"y", {{"label", printable(figure.y.label)}, {"log", figure.y.log}}},
              {"xs", json::array()},
              {"series", json::array()},
              {"marks", json::array()}};
  std::vector<const std::vector<double>*> xs;
  for (const ReportSeries& series : figure.series) {
    LISSOM_ASSERT(series.x.size() == series.y.size());
    const auto same = std::find_if(xs.begin(), xs.end(), [&](const auto* x) { return *x == series.x; });
    const auto index = same - xs.begin();
    if (same == xs.end()) {
      xs.push_back(&series.x);
      out["xs"].push_back(blobs.add(series.x));
    }
    out["series"].push_back({{"name", printable(series.name)},
                             {"x", index},
                             {"y", blobs.add(series.y)},
                             {"style", name_of(series.style)}});
  }
  for (const ReportMark& mark : figure.marks)
    out["marks"].push_back(
        {{"axis", mark.vertical ? "x" : "y"}, {"at", mark.at}, {"label", printable(mark.label)}});
  return out;
}

json matrix_json(const ReportMatrix& matrix, Blobs& blobs) {
  LISSOM_ASSERT(matrix.values.size() == matrix.rows.size() * matrix.columns.size());
  LISSOM_ASSERT(matrix.low < matrix.high && (!matrix.log || matrix.low > 0));
  const auto texts = [](const std::vector<std::string>& labels) {
    json out = json::array();
    for (const std::string& label : labels) out.push_back(printable(label));
    return out;
  };
  return {{"id", safe_id(matrix.id)},
          {"title", printable(matrix.title)},
          {"x", {{"label", printable(matrix.column_label)}}},
          {"y", {{"label", printable(matrix.row_label)}}},
          {"matrix",
           {{"rows", texts(matrix.rows)},
            {"columns", texts(matrix.columns)},
            {"values", blobs.add(matrix.values)},
            {"value", printable(matrix.value_label)},
            {"low", matrix.low},
            {"high", matrix.high},
            {"log", matrix.log},
            {"marked_rows", matrix.marked_rows},
            {"marked_columns", matrix.marked_columns},
            {"mark", printable(matrix.mark)}}}};
}

// Columns of 16-bit numbers, each with its scale.
json series_json(const Eigen::MatrixXf& basis, const Eigen::MatrixXf* amplitudes, int components,
                 double largest, double error, Blobs& blobs) {
  std::vector<std::int16_t> values(static_cast<size_t>(basis.size()));
  std::vector<double> scales;
  for (Eigen::Index k = 0; k < basis.cols(); ++k) {
    const float scale = basis.rows() > 0 ? basis.col(k).cwiseAbs().maxCoeff() : 0;
    scales.push_back(scale);
    const float factor = scale > 0 ? 32767 / scale : 0;
    std::int16_t* column = values.data() + k * basis.rows();
    for (Eigen::Index i = 0; i < basis.rows(); ++i)
      column[i] = static_cast<std::int16_t>(std::lround(basis(i, k) * factor));
  }
  json out = {
      {"components", components}, {"rank", basis.cols()}, {"scales", scales}, {"basis", blobs.add(values)},
      {"amplitudes", nullptr},    {"largest", largest},   {"error", error}};
  if (amplitudes)
    out["amplitudes"] =
        blobs.add(std::span<const float>(amplitudes->data(), static_cast<size_t>(amplitudes->size())));
  return out;
}

template <class Matrix>
json as_floats(const Matrix& values, Blobs& blobs) {
  const Eigen::MatrixXf floats = values.template cast<float>();
  return blobs.add(std::span<const float>(floats.data(), static_cast<size_t>(floats.size())));
}

// The number of a point that is no node.
constexpr std::uint32_t no_node = 0xffffffff;

json run_json(const std::string& label, const View& view, Blobs& blobs) {
  const auto [low, high] = view.box();
  json out = {{"label", printable(label)},
              {"notes", json::array()},
              {"box", {{low[0], low[1], low[2]}, {high[0], high[1], high[2]}}},
              {"parts", json::array()},
              {"motion", nullptr},
              {"shapes", nullptr},
              {"sensors", json::array()}};
  for (const std::string& note : view.notes) out["notes"].push_back(printable(note));
  for (const ViewPart& part : view.parts) {
    std::vector<std::uint32_t> ids;
    for (const std::int64_t id : part.node_ids)
      ids.push_back(id >= 0 && id < no_node ? static_cast<std::uint32_t>(id) : no_node);
    out["parts"].push_back({{"name", printable(part.name)},
                            {"points", as_floats(part.points, blobs)},
                            {"triangles", blobs.add(part.triangles)},
                            {"edges", blobs.add(part.edges)},
                            {"node_ids", blobs.add(ids)},
                            {"mesh_nodes", part.mesh_nodes}});
  }
  if (view.motion) {
    const ViewMotion& motion = *view.motion;
    json parts = json::array();
    for (const ViewMotion::Part& part : motion.parts) {
      json entry = {{"position", as_floats(part.position, blobs)},
                    {"rotation", as_floats(part.rotation, blobs)},
                    {"stress", nullptr}};
      const ViewSeries& u = part.displacement;
      entry["displacement"] = series_json(u.basis, &u.amplitudes, 3, u.largest, u.error, blobs);
      const ViewSeries& s = part.stress;
      if (part.has_stress)
        entry["stress"] = series_json(s.basis, &s.amplitudes, 6, s.largest, s.error, blobs);
      parts.push_back(std::move(entry));
    }
    const std::span<const double> time(motion.time.data(), static_cast<size_t>(motion.time.size()));
    out["motion"] = {{"time", blobs.add(time)}, {"parts", std::move(parts)}};
  }
  if (view.shapes) {
    json modes = json::array(), parts = json::array();
    for (const ViewShapes::Mode& mode : view.shapes->modes)
      modes.push_back({{"label", printable(mode.label)},
                       {"frequency_hz", mode.frequency_hz},
                       {"damping_ratio", mode.damping_ratio}});
    for (const ViewShapes::Part& part : view.shapes->parts) {
      const auto& p = part.position;
      const auto& r = part.rotation;
      json entry = {{"position", {p[0], p[1], p[2]}},
                    {"rotation", {r[0], r[1], r[2], r[3]}},
                    {"real", series_json(part.real, nullptr, 3, 1, 0, blobs)},
                    {"imaginary", nullptr}};
      if (part.imaginary.size() > 0)
        entry["imaginary"] = series_json(part.imaginary, nullptr, 3, 1, 0, blobs);
      parts.push_back(std::move(entry));
    }
    out["shapes"] = {{"modes", std::move(modes)}, {"parts", std::move(parts)}};
  }
  for (const ViewSensor& sensor : view.sensors) {
    json columns = json::array();
    for (const std::string& column : sensor.columns) columns.push_back(printable(column));
    out["sensors"].push_back({{"name", printable(sensor.name)},
                              {"part", sensor.part},
                              {"point", sensor.point},
                              {"columns", std::move(columns)}});
  }
  return out;
}

// A script of others, which the page takes along.
struct Library {
  std::filesystem::path path;
  std::string text;
};

// Nothing where it is not installed.
std::optional<Library> find_library(const std::string& name, const std::filesystem::path& debian,
                                    const PageOptions& options) {
  std::vector<std::filesystem::path> places;
  if (!options.libraries.empty()) {
    places = {options.libraries / name};
  } else {
    if (const char* folder = std::getenv("LISSOM_JS"); folder && *folder)
      places.push_back(std::filesystem::path(folder) / name);
    places.push_back(debian / name);
  }
  for (const auto& place : places) {
    std::error_code ec;
    if (!std::filesystem::is_regular_file(place, ec)) continue;
    std::string text = read_file(place);
    // in a script of a page this would end it
    for (size_t at = 0; (at = text.find("</script", at)) != std::string::npos;) text.replace(at, 2, "<\\/");
    return Library{place, std::move(text)};
  }
  return std::nullopt;
}

// The first number of a version that a script says of itself, version="5.16.0" or {version:"3.5.16"}; 0 where
// it says none.
int major_version(std::string_view script) {
  constexpr std::string_view word = "version";
  for (size_t at = 0; (at = script.find(word, at)) != std::string_view::npos;) {
    at += word.size();
    size_t next = script.find_first_not_of(" =:", at);
    if (next == at || next == std::string_view::npos || (script[next] != '"' && script[next] != '\''))
      continue;
    int major = 0;
    for (++next; next < script.size() && script[next] >= '0' && script[next] <= '9' && major < 1000; ++next)
      major = 10 * major + (script[next] - '0');
    if (major > 0) return major;
  }
  return 0;
}

class PageWriter {
 public:
  PageWriter(const ReportPage& page, bool figures, bool views)
      : page_(page), figures_(figures), views_(views) {}

  // The page without libraries and blobs, which are the caller's to add.
  std::string body() {
    std::string out = "<a class=\"skip\" href=\"#main\">Skip to the report</a>\n";
    out += fmt::format("<header><h1>{}</h1>", escaped(page_.title));
    if (!page_.subtitle.empty()) out += fmt::format("<p class=\"subtitle\">{}</p>", escaped(page_.subtitle));
    out += "</header>\n<nav aria-label=\"Contents\"><ul>\n";
    const auto link = [&](const std::string& id, const std::string& title) {
      out += fmt::format("<li><a href=\"#{}\">{}</a></li>\n", safe_id(id), escaped(title));
    };
    if (!page_.warnings.empty()) link("warnings", warnings_title());
    link("summary", "Summary");
    for (const ReportSection& section : page_.sections) link(section.id, section.title);
    out += "</ul></nav>\n<main id=\"main\">\n";
    if (!page_.warnings.empty()) {
      out += fmt::format("<section id=\"warnings\" class=\"warnings\"><h2>{}</h2><ul>\n", warnings_title());
      for (const std::string& warning : page_.warnings) out += fmt::format("<li>{}</li>\n", escaped(warning));
      out += "</ul></section>\n";
    }
    out += "<section id=\"summary\"><h2>Summary</h2>\n";
    if (!page_.summary.empty()) out += fmt::format("<p class=\"summary\">{}</p>\n", escaped(page_.summary));
    if (!page_.cards.empty()) out += cards();
    out += "</section>\n";
    for (const ReportSection& section : page_.sections) {
      out += fmt::format("<section id=\"{}\"><h2>{}</h2>\n", safe_id(section.id), escaped(section.title));
      if (!section.lead.empty()) out += fmt::format("<p class=\"lead\">{}</p>\n", escaped(section.lead));
      for (const ReportBlock& block : section.blocks) add(block, out);
      out += "</section>\n";
    }
    out += fmt::format("</main>\n<footer>{}</footer>\n", escaped(page_.footer));
    blobs_.flush();
    return out;
  }
  const Blobs& blobs() const { return blobs_; }

 private:
  std::string warnings_title() const {
    return fmt::format("{} warning{}", page_.warnings.size(), page_.warnings.size() == 1 ? "" : "s");
  }

  std::string cards() const {
    std::string out = "<div class=\"cards\">\n";
    for (const ReportCard& card : page_.cards) {
      const char* mood = card.mood == ReportCard::Mood::Good  ? "good"
                         : card.mood == ReportCard::Mood::Bad ? "bad"
                                                              : "plain";
      out +=
          fmt::format("<div class=\"card {}\"><div class=\"label\">{}</div><div class=\"value\"{}>{}</div>",
                      mood, escaped(card.label), data_value(card.value), escaped(card.value.text));
      if (!card.note.empty()) out += fmt::format("<div class=\"note\">{}</div>", escaped(card.note));
      out += "</div>\n";
    }
    return out + "</div>\n";
  }

  static std::string data_value(const ReportValue& value) {
    return value.value ? fmt::format(" data-value=\"{:.17g}\"", *value.value) : "";
  }

  void add(const ReportBlock& block, std::string& out) {
    std::visit([&](const auto& one) { add(one, out); }, block);
  }
  void add(const ReportText& block, std::string& out) {
    out += fmt::format("<p>{}</p>\n", escaped(block.text));
  }
  void add(const ReportCode& block, std::string& out) {
    out += fmt::format("<pre class=\"code\"><code>{}</code></pre>\n", escaped(block.text));
  }
  void add(const ReportFacts& block, std::string& out) {
    out += "<dl class=\"facts\">\n";
    for (const auto& [name, value] : block.rows)
      out += fmt::format("<div><dt>{}</dt><dd{}>{}</dd></div>\n", escaped(name), data_value(value),
                         escaped(value.text));
    out += "</dl>\n";
  }
  void add(const ReportTable& block, std::string& out) {
    out += fmt::format("<div class=\"table\" id=\"t-{}\"><table>", safe_id(block.id));
    if (!block.caption.empty()) out += fmt::format("<caption>{}</caption>", escaped(block.caption));
    out += "<thead><tr>";
    for (size_t c = 0; c < block.columns.size(); ++c)
      out += fmt::format("<th scope=\"col\"{}>{}</th>", numeric(block, c) ? " class=\"n\"" : "",
                         escaped(block.columns[c]));
    out += "</tr></thead><tbody>\n";
    for (const auto& row : block.rows) {
      LISSOM_ASSERT(row.size() == block.columns.size());
      out += "<tr>";
      for (size_t c = 0; c < row.size(); ++c)
        out += fmt::format("<td{}{}>{}</td>", numeric(block, c) ? " class=\"n\"" : "", data_value(row[c]),
                           escaped(row[c].text));
      out += "</tr>\n";
    }
    out += "</tbody></table></div>\n";
  }
  // A column with a number in it, and no text but dashes.
  static bool numeric(const ReportTable& table, size_t column) {
    bool any = false;
    for (const auto& row : table.rows) {
      if (row[column].value)
        any = true;
      else if (!row[column].text.empty() && row[column].text != "-")
        return false;
    }
    return any;
  }

  void add(const ReportFigure& block, std::string& out) {
    add_figure(
        "plot", "f", block, figures_, [&] { return figure_json(block, blobs_); }, out);
  }
  void add(const ReportMatrix& block, std::string& out) {
    add_figure(
        "plot", "f", block, figures_, [&] { return matrix_json(block, blobs_); }, out);
  }
  void add(const ReportView& block, std::string& out) {
    const auto content = [&] {
      json view = {{"id", safe_id(block.id)},
                   {"title", printable(block.title)},
                   {"runs", json::array()},
                   {"curves", json::array()}};
      for (const ReportView::Run& run : block.runs)
        view["runs"].push_back(run_json(run.label, *run.view, blobs_));
      for (const ReportFigure& curve : block.curves) view["curves"].push_back(figure_json(curve, blobs_));
      return view;
    };
    add_figure("view", "v", block, views_, content, out);
  }
  void add(const ReportDetails& block, std::string& out) {
    out += fmt::format("<details><summary>{}</summary>\n", escaped(block.title));
    for (const ReportBlock& inner : block.blocks) add(inner, out);
    out += "</details>\n";
  }

  template <class Block, class Content>
  void add_figure(const char* kind, const char* prefix, const Block& block, bool drawn,
                  const Content& content, std::string& out) {
    out += fmt::format("<figure class=\"{}\" id=\"{}-{}\">", kind, prefix, safe_id(block.id));
    if (drawn)
      out += fmt::format("<script type=\"application/json\">{}</script>", script_json(content()));
    else
      out += "<p class=\"missing\">Not drawn: a library was missing when this report was written.</p>";
    std::string caption = escaped(block.title);
    if (!caption.empty()) caption = fmt::format("<strong>{}</strong>", caption);
    if (!block.caption.empty()) caption += (caption.empty() ? "" : " ") + escaped(block.caption);
    out += fmt::format("<figcaption>{}</figcaption></figure>\n", caption);
  }

  const ReportPage& page_;
  bool figures_, views_;
  Blobs blobs_;
};

// All views of a page, in order.
void collect_views(std::vector<ReportBlock>& blocks, std::vector<ReportView*>& views) {
  for (ReportBlock& block : blocks) {
    if (auto* view = std::get_if<ReportView>(&block)) views.push_back(view);
    if (auto* details = std::get_if<ReportDetails>(&block)) collect_views(details->blocks, views);
  }
}

bool has_figures(const std::vector<ReportBlock>& blocks) {
  return std::any_of(blocks.begin(), blocks.end(), [](const ReportBlock& block) {
    if (const auto* details = std::get_if<ReportDetails>(&block)) return has_figures(details->blocks);
    return std::holds_alternative<ReportFigure>(block) || std::holds_alternative<ReportMatrix>(block);
  });
}

}  // namespace

ReportValue report_number(double value, int digits, const std::string& unit) {
  if (!std::isfinite(value)) return ReportValue("-");
  return {fmt::format("{:.{}g}{}{}", value, digits, unit.empty() ? "" : " ", unit), value};
}

WrittenPage write_page(const ReportPage& page, const std::filesystem::path& path, Diagnostics& diagnostics,
                       const PageOptions& options) {
  // what draws, as far as it is needed
  ReportPage shown = page;
  std::vector<ReportView*> views;
  bool figures = false;
  for (ReportSection& section : shown.sections) {
    collect_views(section.blocks, views);
    figures = figures || has_figures(section.blocks);
  }
  std::vector<std::pair<std::string, std::string>> scripts;  // with a comment that names them
  const auto take = [&](const std::string& name, const std::filesystem::path& folder, const char* package,
                        int oldest, const char* credit) {
    auto library = find_library(name, folder, options);
    if (!library) {
      diagnostics.warn("report." + name,
                       fmt::format("{} is not there, so the report lacks what it draws: install Debian's "
                                   "package {}, or set LISSOM_JS to a folder that has the file",
                                   name, package));
      return false;
    }
    const int version = major_version(library->text);
    if (version > 0 && version < oldest) {
      diagnostics.warn(
          "report." + name,
          fmt::format("{}: is of version {}, but version {} or a later one is needed, so the "
                      "report lacks what it draws: install Debian's package {}, or set LISSOM_JS "
                      "to a folder that has such a file",
                      library->path.string(), version, oldest, package));
      return false;
    }
    scripts.emplace_back(credit, std::move(library->text));
    return true;
  };
  const std::filesystem::path three = "/usr/share/javascript/three";
  bool draws_views = !views.empty();
  if (draws_views)
    draws_views =
        take("three.min.js", three / "build", "libjs-three", 0, "three.js, MIT licence, threejs.org") &&
        take("OrbitControls.js", three / "examples/js/controls", "libjs-three", 0,
             "OrbitControls of three.js, MIT licence, threejs.org");
  bool draws_figures = figures || draws_views;
  if (draws_figures)
    draws_figures = take("d3.min.js", "/usr/share/nodejs/d3/dist", "node-d3", 5,
                         "d3, copyright Mike Bostock, BSD-3-Clause licence, d3js.org");

  // the page around its content
  std::string head = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"generator\" content=\"lissom {}\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src "
      "'unsafe-inline'; "
      "style-src 'unsafe-inline'; img-src data: blob:\">\n<title>{}</title>\n",
      LISSOM_VERSION, escaped(page.title));
  std::string tail;
  for (const auto& [credit, text] : scripts)
    tail += fmt::format("<script>/* {} */\n", credit) + text + "\n</script>\n";
  for (const PageAsset& asset : page_assets()) {
    // those of views need three.js
    if (!draws_views && asset.name.starts_with("view")) continue;
    if (asset.name.ends_with(".css"))
      head += fmt::format("<style>\n{}</style>\n", asset.text);
    else
      tail += fmt::format("<script>\n{}</script>\n", asset.text);
  }
  head += "</head><body>\n";
  tail += "</body></html>\n";

  // views are thinned until the page is small enough
  WrittenPage written;
  std::string content;
  for (int level = 0;; ++level) {
    PageWriter writer(shown, draws_figures, draws_views);
    content = writer.body();
    const auto& blobs = writer.blobs().encoded();
    for (size_t b = 0; b < blobs.size(); ++b)
      content +=
          fmt::format("<script type=\"application/octet-stream\" id=\"b{}\">{}</script>\n", b, blobs[b]);
    written.bytes = static_cast<std::int64_t>(head.size() + content.size() + tail.size());
    if (written.bytes <= options.max_bytes || !draws_views) break;
    std::int64_t view_bytes = 0;
    for (const ReportView* view : views) view_bytes += encoded_bytes(*view);
    const double wanted = static_cast<double>(options.max_bytes - (written.bytes - view_bytes));
    if (!thin_views(
            views, std::max(0.05, 0.95 * wanted / static_cast<double>(std::max<std::int64_t>(1, view_bytes))),
            written.notes))
      break;
    LISSOM_ASSERT(level < 20);
  }
  if (written.bytes > options.max_bytes)
    diagnostics.warn("report.size",
                     fmt::format("{}: has {:.1f} MB, more than the {:.1f} MB asked for; nothing "
                                 "more can be left out",
                                 path.string(), 1e-6 * static_cast<double>(written.bytes),
                                 1e-6 * static_cast<double>(options.max_bytes)));
  AtomicFile file(path);
  file.write(head);
  file.write(content);
  file.write(tail);
  file.commit();
  return written;
}

}  // namespace lissom
