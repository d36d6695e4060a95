-module(counter).
-export([start/0, add/2]).
-import(lists, [map/2]).

-record(state, {count = 0}).

%% Starts it.
start() ->
    spawn(fun() -> loop(0) end).

add(Pid, N) ->
    Pid ! {add, N},
    io:format("~p", [N]).
