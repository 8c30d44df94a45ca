// What a view shows of a mechanism: the points of its bodies, and where they are at a state.
#pragma once

#include <Eigen/Core>

#include <memory>
#include <string>
#include <vector>

#include "lissom/fe/surface.hpp"
#include "lissom/io/view_file.hpp"
#include "lissom/study/build_system.hpp"
#include "lissom/study/paraview.hpp"

namespace lissom {

class ViewParts {
 public:
  // Bodies with a mesh show its surface; beams a tube of their section around the nodes; rigid bodies of
  // numbers rods from the centre of mass to their markers and named points, or a cube of their inertia where
  // these are all at the centre. What cannot be shown, and what
  // was simplified so that all parts have at most `max_points` points, is added to `notes`. `built` must
  // outlive it.
  ViewParts(const StudySystem& built, const StudyFile& study, const BodyMeshes& meshes, int max_points,
            std::vector<std::string>& notes);

  enum class Kind : std::uint8_t { Mesh, Beam, Rods };
  struct Part {
    Kind kind = Kind::Mesh;
    ViewPart shown;
    Eigen::Matrix3Xd X;  // its points, in double
    int body = 0;
    NodeGroup group;      // of a mesh or a beam
    int group_index = 0;  // in node_groups()
    // of a mesh
    std::shared_ptr<const Mesh> mesh;
    std::vector<int> nodes;  // of each point its node of the mesh, ascending
    std::vector<int> at;     // of each node of the mesh its place in the group, -1 without
    bool complete = false;   // all nodes of its elements are there
    // of a beam: corners of the section, along its two normals [m]
    Eigen::Matrix2Xd section;
    bool planar = true;
    // of rods
    int marker = -1;
    Eigen::Vector3d marker_position;  // at X
    Eigen::Matrix3d marker_axes;
    bool turns() const { return kind == Kind::Beam && !planar; }
  };
  const std::vector<Part>& parts() const { return parts_; }
  const System& system() const { return *built_->system; }

  // Nodes of a body at the system's coordinates q, as positions() takes them; none of rigid ones of numbers.
  Eigen::Matrix3Xd nodes(int body, const Eigen::Ref<const Eigen::VectorXd>& q) const;
  // Points of a part, 3 by n, in the global frame [m]. `normal` is the first normal of a beam in space.
  void positions(const Part& part, const Eigen::Ref<const Eigen::VectorXd>& q, const Eigen::Matrix3Xd& nodes,
                 const Eigen::Vector3d& normal, Eigen::Ref<Eigen::Matrix3Xd> x) const;
  // A normal of a beam's first tangent: any one, or `before` turned the least way.
  static Eigen::Vector3d first_normal(const Part& part, const Eigen::Matrix3Xd& nodes);
  static Eigen::Vector3d first_normal(const Part& part, const Eigen::Matrix3Xd& nodes,
                                      const Eigen::Vector3d& before);

 private:
  void add_beam(const Scene::Part& of, const StudyFile& study, std::vector<std::string>& notes);
  bool add_rods(int body, const BodySpec& spec);

  const StudySystem* built_;
  std::vector<Part> parts_;
};

// Surfaces of meshes that together have at most about `max_points` points: without the mid-side nodes, or
// simplified, where that is needed, which `notes` says.
std::vector<Surface> surfaces_to_show(const std::vector<const Mesh*>& meshes, int max_points,
                                      std::vector<std::string>& notes);
ViewPart view_part(const std::string& name, const Mesh& mesh, const Surface& surface);

}  // namespace lissom
