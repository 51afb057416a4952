// Models of Pinocchio as pinocchio_peer.py writes them, with numbers of any kind.

#pragma once

#include <iostream>
#include <stdexcept>
#include <string>

#include <pinocchio/multibody.hpp>

namespace pin = pinocchio;

// The joints that occur here: all axes are z. Pinocchio's own collection has 23 kinds, and takes
// minutes and gigabytes to compile; its algorithms ask for joints that mimic others.
template <typename S, int O = 0>
struct Joints {
  using Scalar = S;
  static constexpr int Options = O;
  using JointModelRZ = pin::JointModelRevoluteTpl<S, O, 2>;
  using JointModelFreeFlyer = pin::JointModelFreeFlyerTpl<S, O>;
  using JointModelComposite = pin::JointModelCompositeTpl<S, O, Joints>;
  using JointModelMimic = pin::JointModelMimicTpl<S, O, Joints>;
  using JointModelVariant = boost::variant<JointModelRZ, JointModelFreeFlyer,
                                           boost::recursive_wrapper<JointModelMimic>>;
  using JointDataRZ = pin::JointDataRevoluteTpl<S, O, 2>;
  using JointDataFreeFlyer = pin::JointDataFreeFlyerTpl<S, O>;
  using JointDataComposite = pin::JointDataCompositeTpl<S, O, Joints>;
  using JointDataMimic = pin::JointDataMimicTpl<S, O, Joints>;
  using JointDataVariant = boost::variant<JointDataRZ, JointDataFreeFlyer,
                                          boost::recursive_wrapper<JointDataMimic>>;
};
using Model = pin::ModelTpl<double, 0, Joints>;
using JointModel = pin::JointModelTpl<double, 0, Joints>;

template <typename T>
T next() {
  T value;
  if (!(std::cin >> value)) throw std::runtime_error("the input ends too early");
  return value;
}

template <typename Matrix>
Matrix next_matrix(Matrix matrix) {  // row by row
  for (Eigen::Index i = 0; i < matrix.rows(); ++i)
    for (Eigen::Index j = 0; j < matrix.cols(); ++j) matrix(i, j) = next<double>();
  return matrix;
}

inline Eigen::Vector3d next_vector() { return next_matrix(Eigen::Vector3d()); }

inline JointModel joint_model(const std::string& name) {
  if (name == "JointModelRZ") return Joints<double>::JointModelRZ();
  if (name == "JointModelFreeFlyer") return Joints<double>::JointModelFreeFlyer();
  throw std::runtime_error("no joint " + name + " here");
}

inline Model next_model() {
  Model model;
  model.gravity.linear() = next_vector();
  const int joints = next<int>();
  for (int k = 0; k < joints; ++k) {
    const auto parent = next<pin::JointIndex>();
    const auto kind = joint_model(next<std::string>());
    const Eigen::Matrix3d rotation = next_matrix(Eigen::Matrix3d());
    const pin::SE3 placement(rotation, next_vector());
    const auto joint = model.addJoint(parent, kind, placement, "joint" + std::to_string(k));
    const double mass = next<double>();
    const Eigen::Vector3d centre = next_vector();
    const Eigen::Matrix3d inertia = next_matrix(Eigen::Matrix3d());
    model.appendBodyToJoint(joint, pin::Inertia(mass, centre, inertia));
  }
  model.armature = next_matrix(Eigen::VectorXd(model.nv));
  return model;
}
