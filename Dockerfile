# One static binary; Postgres comes from the compose file or from DATABASE_URL.
FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=dev
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.version=${VERSION}" -o /out/signalbox ./cmd/signalbox

FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=build /out/signalbox /usr/local/bin/signalbox
ENV DATA_DIR=/data LISTEN_ADDR=0.0.0.0:8080 WORKFLOWS_DIR=/workflows
VOLUME /data
EXPOSE 8080
ENTRYPOINT ["/usr/local/bin/signalbox"]
CMD ["up"]
