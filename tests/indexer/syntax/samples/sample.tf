terraform {
  required_version = ">= 1.5"
}

variable "region" {
  default = "eu-central-1"
}

# Where files go.
resource "aws_s3_bucket" "files" {
  bucket = lower("files")
}

module "network" {
  source = "./network"
}
