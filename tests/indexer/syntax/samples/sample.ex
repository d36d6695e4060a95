defmodule Shop.Cart do
  @moduledoc "A cart."

  use GenServer
  import Ecto.Query
  alias Shop.Repo

  @timeout 5_000

  defstruct [:items]

  @doc "Adds an item."
  def add(cart, item) do
    Repo.insert(item)
    update(cart, item)
  end

  defp update(cart, item), do: Map.put(cart, :items, [item])

  defmacro debug(value) do
    quote do: IO.inspect(unquote(value))
  end
end
