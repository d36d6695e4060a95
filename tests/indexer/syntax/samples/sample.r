library(dplyr)

limit <- 10

# The mean without gaps.
clean_mean <- function(values) {
  mean(na.omit(values))
}

summarise_all = function(frame) {
  dplyr::summarise(frame, clean_mean(x))
}
