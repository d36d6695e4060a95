#!/usr/bin/env bash
# Deploys the service.
set -euo pipefail
source ./lib.sh

TARGET="${1:-staging}"

# Builds the image.
build() {
  docker build -t app .
}

function deploy {
  build
  kubectl apply -f deploy.yaml
  notify "$TARGET"
}

deploy "$@"
