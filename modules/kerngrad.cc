// SPDX-License-Identifier: Apache-2.0
// The module: what `import kerngrad;` brings.
export module kerngrad;

export import :std;
export import :core;
export import :op;
export import :launch;
export import :shapes;
export import :all_shapes;
export import :scalar;
export import :attributes;
export import :rows;
export import :all_rows;
export import :table;
export import :storage;
export import :tensor;
export import :entry;
export import :engine;
export import :call;
export import :axes;
export import :indexing;
export import :symbol;
export import :function;
export import :ops;
export import :rule;
export import :all_rules;
export import :audit;
export import :backend;
export import :observe;
export import :profile;
export import :registry;
export import :explain;
export import :own;
export import :replaced;
export import :pack;
export import :tree;
export import :grad;
export import :transform;
export import :jacobian;
export import :implicit;
export import :custom;
export import :schedule;
export import :optimizer;
export import :clipping;
export import :threads;
export import :memory;
export import :borrow;
export import :dlpack;
export import :fuse_rules;
export import :fuse_chains;
export import :fuse_program;
export import :fuse_scalar;
export import :fuse;
export import :composed;

/// The short name of the namespace.
export namespace kg = kerngrad;
