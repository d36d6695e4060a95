package acme

import scala.collection.mutable
import acme.db.{Connection, Query}

/** Users, kept in a database. */
class UserStore(connection: Connection) {
  private val cache = mutable.Map.empty[Int, User]

  def find(id: Int): Option[User] = {
    cache.get(id).orElse(load(id))
  }
}

trait Store {
  def find(id: Int): Option[User]
}

object UserStore {
  val Limit = 10
  def apply(): UserStore = new UserStore(Connection.open())
}

case class User(id: Int, name: String)
