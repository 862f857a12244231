# One static binary; Postgres comes from the compose file or from DATABASE_URL.
FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=dev
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.version=${VERSION}" -o /out/signalbox ./cmd/signalbox \
 && mkdir -p /out/data /out/workflows /out/flash

FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=build /out/signalbox /usr/local/bin/signalbox
COPY --from=build --chown=nonroot:nonroot /out/data /data
COPY --from=build --chown=nonroot:nonroot /out/flash /flash
COPY --from=build --chown=nonroot:nonroot /out/workflows /workflows
ENV DATA_DIR=/data LISTEN_ADDR=0.0.0.0:8080 WORKFLOWS_DIR=/workflows
VOLUME ["/data", "/flash"]
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s CMD ["/usr/local/bin/signalbox", "doctor", "--ready"]
ENTRYPOINT ["/usr/local/bin/signalbox"]
CMD ["up"]
