# The service in a container: SQLite in the volume /data, or PostgreSQL with DATABASE_URL (see compose.yaml).
FROM node:24-slim AS packages
WORKDIR /app
COPY package.json package-lock.json ./
# The scripts of packages would only fetch another Node: the image has the right one.
RUN npm ci --omit=dev --ignore-scripts

# The web console is built with the packages for development, of which the image keeps none.
FROM node:24-slim AS console
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY scripts ./scripts
COPY console ./console
RUN node scripts/build-console.ts

FROM node:24-slim
# Collects processes of browsers whose parents have ended, which Node does not.
RUN apt-get update && apt-get install --yes --no-install-recommends tini && rm -rf /var/lib/apt/lists/*
WORKDIR /app
ENV NODE_ENV=production
COPY --from=packages /app/node_modules ./node_modules
COPY package.json LICENSE ./
COPY src ./src
COPY --from=console /app/console/dist ./console/dist
# Compiled code is kept beside the packages, as long as the container lives.
RUN install --directory --owner=node --group=node --mode=700 /data node_modules/.cache/agentstead

# A container is reached from outside or not at all. So callers without a user may chat on the agent "default" and no more,
# until somebody decides otherwise: PUBLIC_ACCESS=full is for a port that only you reach, GATEWAY_… for agents of users.
ENV HOST=0.0.0.0 PORT=8080 DATA_DIR=/data PUBLIC_ACCESS=chat
VOLUME /data
EXPOSE 8080
USER node
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "--eval", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["tini", "--"]
# In this form no shell stands between the container's signals and the service, which ends within 10 s of SIGTERM.
CMD ["node", "--import", "./src/compile-cache.mjs", "src/main.ts"]
