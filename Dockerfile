# syntax=docker/dockerfile:1

FROM node:24-bookworm-slim AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY scripts/prepare.js scripts/
# The image talks to a ClickHouse server unless it is asked to embed one:
# docker build --build-arg EMBEDDED_ENGINE=true .
ARG EMBEDDED_ENGINE=false
RUN if [ "$EMBEDDED_ENGINE" = "true" ]; then npm ci --omit=dev; else npm ci --omit=dev --omit=optional; fi

FROM node:24-bookworm-slim AS page
WORKDIR /app
COPY package.json package-lock.json .npmrc tsconfig.json ./
RUN npm ci --ignore-scripts
COPY scripts/prepare.js scripts/
COPY web ./web
RUN node scripts/prepare.js

FROM node:24-bookworm-slim
LABEL org.opencontainers.image.title="Sumtree" \
      org.opencontainers.image.description="What every call of an LLM trace really used and cost" \
      org.opencontainers.image.licenses="MIT"
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080 DATA_DIR=/data
WORKDIR /app
RUN mkdir /data && chown node:node /data
COPY --from=packages /app/node_modules ./node_modules
COPY package.json ./
COPY bin ./bin
COPY migrations ./migrations
COPY scripts ./scripts
COPY src ./src
COPY --from=page /app/web/built ./web/built
USER node
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.PORT + '/readyz').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "bin/sumtree.js"]
