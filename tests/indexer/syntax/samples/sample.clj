(ns shop.cart
  (:require [clojure.string :as str]))

(def limit 10)

;; Adds an item.
(defn add
  "Adds."
  [cart item]
  (conj cart (str/trim item)))

(defmacro unless [test body]
  `(if ~test nil ~body))

(defprotocol Store
  (find-by [this id]))
