// C code of Pinocchio's functions, which CasADi generates from its algorithms on symbols.
//
//   pinocchio_casadi FOLDER CALL...
//
// Reads a model from stdin, as pinocchio_peer.py writes it, and writes FOLDER/<CALL>.c of each
// function. Common subexpressions are computed once, and zeros of structure are no results.

#include <iostream>
#include <string>
#include <vector>

#include <pinocchio/autodiff/casadi.hpp>

#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/rnea-derivatives.hpp>
#include <pinocchio/algorithm/rnea.hpp>

#include "pinocchio_model.hpp"

namespace {

using casadi::SX;
using Symbolic = pin::ModelTpl<SX, 0, Joints>;
using SymbolicData = pin::DataTpl<SX, 0, Joints>;
using Vector = Eigen::Matrix<SX, Eigen::Dynamic, 1>;

Vector symbols(const std::string& name, int count, std::vector<SX>& inputs) {
  const SX all = SX::sym(name, count);
  inputs.push_back(all);
  Vector vector(count);
  for (int k = 0; k < count; ++k) vector(k) = all(k);
  return vector;
}

template <typename Matrix>
SX result(const Matrix& matrix) {
  SX found(matrix.rows(), matrix.cols());
  for (Eigen::Index i = 0; i < matrix.rows(); ++i)
    for (Eigen::Index j = 0; j < matrix.cols(); ++j)
      if (!matrix(i, j).is_zero()) found(i, j) = matrix(i, j);
  return found;
}

std::vector<SX> results(
    const std::string& name, const Symbolic& model, const Vector& q, const Vector& v,
    const Vector& x) {
  SymbolicData data(model);
  if (name == "rnea") return {result(pin::rnea(model, data, q, v, x))};
  if (name == "aba") return {result(pin::aba(model, data, q, v, x))};
  if (name == "computeRNEADerivatives") {
    pin::computeRNEADerivatives(model, data, q, v, x);
    return {result(data.dtau_dq), result(data.dtau_dv)};
  }
  if (name == "computeABADerivatives") {
    pin::computeABADerivatives(model, data, q, v, x);
    return {result(data.ddq_dq), result(data.ddq_dv)};
  }
  throw std::runtime_error("no function " + name + " here");
}

void write(const std::string& folder, const std::string& name, const Symbolic& model) {
  std::vector<SX> inputs;
  const Vector q = symbols("q", model.nq, inputs);
  const Vector v = symbols("v", model.nv, inputs);
  const Vector x = symbols("x", model.nv, inputs);
  const casadi::Function function(
      "call", inputs, results(name, model, q, v, x), casadi::Dict{{"cse", true}});
  casadi::CodeGenerator code(name + ".c");
  code.add(function);
  code.generate(folder + "/");
}

}  // namespace

int main(int count, char** arguments) {
  try {
    const Symbolic model = next_model().cast<SX>();
    for (int k = 2; k < count; ++k) write(arguments[1], arguments[k], model);
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
