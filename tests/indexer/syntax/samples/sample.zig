const std = @import("std");

pub const limit: usize = 10;

/// A queue of bytes.
pub const Queue = struct {
    items: []u8,

    pub fn push(self: *Queue, item: u8) void {
        std.mem.copy(u8, self.items, &[_]u8{item});
    }
};

const Mode = enum { fast, careful };

pub fn main() !void {
    std.debug.print("{d}", .{limit});
    try run();
}

test "push" {
    try run();
}
