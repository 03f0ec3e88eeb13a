# The one binary, and nothing else that it needs.
FROM rust:1-bookworm AS build
WORKDIR /src
COPY . .
RUN cargo build --release --locked

FROM debian:bookworm-slim
COPY --from=build /src/target/release/plimsoll /usr/local/bin/plimsoll
VOLUME /data
ENTRYPOINT ["plimsoll"]
