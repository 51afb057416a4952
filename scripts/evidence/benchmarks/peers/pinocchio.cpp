// Time and results of Pinocchio's functions, called in a loop in C++.
//
// Reads a model and states from stdin, as pinocchio_peer.py writes them. Prints
// for each function a line with its name and nanoseconds of a call (the fastest of many rounds
// over all states), then its results for the first states, a line each.

#include <algorithm>
#include <chrono>
#include <iomanip>
#include <iostream>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/constrained-dynamics.hpp>
#include <pinocchio/algorithm/rnea-derivatives.hpp>
#include <pinocchio/algorithm/rnea.hpp>

#include "pinocchio_model.hpp"

using Eigen::VectorXd;

namespace {

using Data = pin::DataTpl<double, 0, Joints>;

struct State {
  VectorXd q, v, x;  // x: accelerations or torques, as the function takes them
};

struct States {
  std::vector<State> all;
  int shown = 0;
  double budget = 0;  // ns of a function

  explicit States(const Model& model) : all(next<int>()) {
    shown = next<int>();
    budget = 1e9 * next<double>();
    for (auto& s : all) {
      s.q = next_matrix(VectorXd(model.nq));
      s.v = next_matrix(VectorXd(model.nv));
      s.x = next_matrix(VectorXd(model.nv));
    }
  }
};

// Points of bodies that are pinned to places on the ground.
struct Pins {
  std::vector<pin::RigidConstraintModel> models;
  std::vector<pin::RigidConstraintData> data;
  pin::ProximalSettings settings;

  explicit Pins(const Model& model) {
    const int count = next<int>();
    for (int k = 0; k < count; ++k) {
      const auto joint = next<pin::JointIndex>();
      const pin::SE3 point(Eigen::Matrix3d::Identity(), next_vector());
      const pin::SE3 place(Eigen::Matrix3d::Identity(), next_vector());
      models.emplace_back(pin::CONTACT_3D, model, joint, point, 0, place, pin::LOCAL);
      data.emplace_back(models.back());
    }
    settings.absolute_accuracy = settings.relative_accuracy = next<double>();
    settings.mu = next<double>();
    settings.max_iter = next<int>();
  }
};

template <typename Work>
double nanoseconds(const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
}

void print(const Eigen::MatrixXd& matrix) {  // row by row
  for (Eigen::Index i = 0; i < matrix.rows(); ++i)
    for (Eigen::Index j = 0; j < matrix.cols(); ++j) std::cout << matrix(i, j) << " ";
}

template <typename Call, typename... Result>
void measure(
    const std::string& name, const States& states, const Call& call, const Result&... results) {
  double best = std::numeric_limits<double>::infinity();
  for (double spent = 0; spent < states.budget;) {
    const double now = nanoseconds([&] {
      for (const auto& s : states.all) call(s);
    });
    best = std::min(best, now);
    spent += now;
  }
  std::cout << name << " " << best / states.all.size() << "\n";
  for (int k = 0; k < states.shown; ++k) {
    call(states.all[k]);
    (print(results), ...);
    std::cout << "\n";
  }
}

void run() {
  const Model model = next_model();
  Data data(model);
  Pins pins(model);
  pin::initConstraintDynamics(model, data, pins.models, pins.data);
  const States states(model);
  std::cout << std::setprecision(17);
  for (std::string name; std::cin >> name;) {
    const auto measured = [&](const auto& call, const auto&... results) {
      measure(name, states, call, results...);
    };
    if (name == "rnea") {
      measured([&](const State& s) { pin::rnea(model, data, s.q, s.v, s.x); }, data.tau);
    } else if (name == "aba") {
      measured([&](const State& s) { pin::aba(model, data, s.q, s.v, s.x); }, data.ddq);
    } else if (name == "computeRNEADerivatives") {
      measured(
          [&](const State& s) { pin::computeRNEADerivatives(model, data, s.q, s.v, s.x); },
          data.dtau_dq, data.dtau_dv);
    } else if (name == "computeABADerivatives") {
      measured(
          [&](const State& s) { pin::computeABADerivatives(model, data, s.q, s.v, s.x); },
          data.ddq_dq, data.ddq_dv);
    } else if (name == "constraintDynamics") {
      measured(
          [&](const State& s) {
            pin::constraintDynamics(
                model, data, s.q, s.v, s.x, pins.models, pins.data, pins.settings);
          },
          data.ddq);
    } else {
      throw std::runtime_error("no function " + name + " here");
    }
  }
}

}  // namespace

int main() {
  try {
    run();
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
