// SPDX-License-Identifier: Apache-2.0
// A matrix that owns its elements and ends with the expression; the interface is that of Eigen's.
// clang: call to deleted function 'borrow': borrowed memory that dies: the container ends with this expression; name it
import kerngrad;

struct matrix {
  using Scalar = float;
  using PlainObject = matrix;
  enum { RowsAtCompileTime = -1, ColsAtCompileTime = -1 };
  float elements[4] = {1, 2, 3, 4};
  const float* data() const { return elements; }
  int rows() const { return 2; }
  int cols() const { return 2; }
  int rowStride() const { return 2; }
  int colStride() const { return 1; }
};

double f() {
#ifdef TWIN
  const matrix m;
  return kg::sum(kg::borrow(m)).item();
#else
  return kg::sum(kg::borrow(matrix{})).item();
#endif
}
