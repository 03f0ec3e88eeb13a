# One static binary and nothing else.
FROM rust:1-alpine AS build
RUN apk add --no-cache build-base
WORKDIR /src
COPY . .
RUN cargo build --release --locked

FROM scratch
COPY --from=build /src/target/release/plimsoll /plimsoll
ENTRYPOINT ["/plimsoll"]
