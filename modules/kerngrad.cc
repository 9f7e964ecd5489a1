// SPDX-License-Identifier: Apache-2.0
// The module: what `import kerngrad;` brings.
export module kerngrad;

export import :std;
export import :core;
export import :op;
export import :launch;
export import :shapes;
export import :shapes_move;
export import :rows_unary;
export import :rows_binary;
export import :rows_reduce;
export import :rows_window;
export import :rows_fused;
export import :rows_move;
export import :table;
export import :storage;
export import :tensor;
export import :entry;
export import :engine;
export import :call;
export import :axes;
export import :symbol;
export import :ops_elementwise;
export import :ops;
export import :ops_fused;
export import :rule;
export import :grads_unary;
export import :grads_binary;
export import :grads_reduce;
export import :grads_window;
export import :grads_fused;
export import :grads_move;
export import :audit;
export import :backend;
export import :observe;
export import :profile;
export import :registry;
export import :explain;
export import :own;
export import :replaced;
export import :pack;
export import :grad;
export import :transform;
export import :custom;
export import :optimizer;
export import :threads;
export import :memory;
export import :fuse_rules;
export import :fuse_chains;
export import :fuse_program;
export import :fuse_scalar;
export import :fuse;

/// The short name of the namespace.
export namespace kg = kerngrad;
