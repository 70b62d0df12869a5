#!/usr/bin/env bash
# Writes every generated file of the clients from the proto files, with pinned generators.
#
# Needs Python 3.11, Go, Node and Maven; everything else comes from their package registries:
#   Python      grpcio-tools, mypy-protobuf            generate.txt
#   Go          protoc-gen-go, protoc-gen-go-grpc      go/go.mod
#   TypeScript  ts-proto                               typescript/package-lock.json
#   Java        protoc, protoc-gen-grpc-java           the two lines below
# One compiler would be neater, but grpcio-tools' protoc has no Java, and Java's no grpc_python.
# Maven's protobuf plugins were tried: one wants a newer Maven, the other is no longer kept.
set -euo pipefail
cd "$(dirname "$0")/.."

java_protoc=com.google.protobuf:protoc:4.36.2
# Its newer releases came without a Linux binary; the code runs with any newer grpc-java.
java_grpc=io.grpc:protoc-gen-grpc-java:1.83.1

tools=$PWD/.work/generate
contract=(tokencount/v1/prompt.proto tokencount/v1/usage.proto
  tokencount/v1/token_counter_service.proto)
details=tokencount/error_details.proto

install_python_tools() {
  if ! cmp -s clients/generate.txt "$tools/python/generate.txt"; then
    rm -rf "$tools/python"
    python3 -m venv "$tools/python"
    "$tools/python/bin/pip" install --quiet --require-hashes -r clients/generate.txt
    cp clients/generate.txt "$tools/python/"
  fi
}

# fetch_java_tool GROUP:ARTIFACT:VERSION: an executable from Maven's registry, printed as a path.
fetch_java_tool() {
  local system machine name
  case $(uname -s) in Darwin) system=osx ;; *) system=linux ;; esac
  case $(uname -m) in arm64 | aarch64) machine=aarch_64 ;; *) machine=x86_64 ;; esac
  IFS=: read -r _ name version <<<"$1"
  local file=$tools/java/$name-$version-$system-$machine.exe
  if [ ! -f "$file" ]; then
    mvn --quiet --batch-mode org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy \
      -Dartifact="$1:exe:$system-$machine" -DoutputDirectory="$tools/java" >&2
    chmod +x "$file"
  fi
  echo "$file"
}

python_stubs() {
  local out=clients/python protoc=("$tools/python/bin/python" -m grpc_tools.protoc)
  rm -f $out/tokencount/*_pb2* $out/tokencount/v1/*_pb2*
  PATH="$tools/python/bin:$PATH" "${protoc[@]}" -I proto -I clients/proto --python_out=$out \
    --mypy_out=quiet:$out "${contract[@]}" $details
  PATH="$tools/python/bin:$PATH" "${protoc[@]}" -I proto --grpc_python_out=$out \
    --mypy_grpc_out=quiet:$out tokencount/v1/token_counter_service.proto
}

go_stubs() {
  local out=clients/go module=github.com/tokencount/tokencount/clients/go
  rm -f $out/tokencountv1/*.pb.go
  "$tools/python/bin/python" -m grpc_tools.protoc -I proto \
    --plugin="$(cd clients/go && go tool -n protoc-gen-go)" \
    --plugin="$(cd clients/go && go tool -n protoc-gen-go-grpc)" \
    --go_out=$out --go_opt=module=$module --go-grpc_out=$out --go-grpc_opt=module=$module \
    "${contract[@]}"
}

typescript_stubs() {
  local out=clients/typescript/src/gen
  local installed=clients/typescript/node_modules/.package-lock.json
  if ! [ $installed -nt clients/typescript/package-lock.json ]; then
    npm --prefix clients/typescript ci --silent
  fi
  rm -rf $out
  mkdir -p $out
  "$tools/python/bin/python" -m grpc_tools.protoc -I proto -I clients/proto \
    --plugin=clients/typescript/node_modules/.bin/protoc-gen-ts_proto --ts_proto_out=$out \
    --ts_proto_opt=outputServices=grpc-js,env=node,esModuleInterop=true,importSuffix=.js \
    --ts_proto_opt=oneof=unions-value,exportCommonSymbols=false,outputJsonMethods=false \
    "${contract[@]}" $details
}

java_stubs() {
  local out=clients/java/src/generated/java protoc plugin
  protoc=$(fetch_java_tool $java_protoc)
  plugin=$(fetch_java_tool $java_grpc)
  rm -rf $out
  mkdir -p $out
  "$protoc" -I proto --plugin=protoc-gen-grpc-java="$plugin" \
    --java_out=$out --grpc-java_out=$out "${contract[@]}"
}

install_python_tools
python_stubs
go_stubs
typescript_stubs
java_stubs
