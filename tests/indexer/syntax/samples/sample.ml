open Printf

type shape = Circle of float | Square of float

module Area = struct
  let of_shape = function
    | Circle r -> r *. r
    | Square s -> s *. s
end

(* Prints it. *)
let print shape =
  printf "%f" (Area.of_shape shape)
