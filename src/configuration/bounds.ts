import { group, whole } from './variables.ts'

/** Limits of a turn, a crawl and an upload, and of the storage of executions and changes. */
export const bounds = group({
  variables: {
    CHAT_MAX_ITERATIONS: whole(8, 1, 100),
    CONVERSATIONS_MAX: whole(5000, 1, 10_000),
    CRAWL_MAX_PAGES: whole(50, 1, 100_000),
    CRAWL_MAX_DEPTH: whole(5, 0, 100),
    MAX_UPLOAD_BYTES: whole(26_214_400, 1, 2_147_483_647),
    AUDIT_KEEP_DAYS: whole(365, 1, 36_500),
    EXECUTIONS_KEEP_DAYS: whole(14, 1, 3650),
    EXECUTIONS_KEEP_COUNT: whole(10_000, 0, 10_000_000),
  },
  read: environment => ({
    chatMaxIterations: environment.CHAT_MAX_ITERATIONS,
    maxConversations: environment.CONVERSATIONS_MAX,
    crawlBounds: { maxPages: environment.CRAWL_MAX_PAGES, maxDepth: environment.CRAWL_MAX_DEPTH },
    maxUploadBytes: environment.MAX_UPLOAD_BYTES,
    auditKeepDays: environment.AUDIT_KEEP_DAYS,
    executionsKept: { days: environment.EXECUTIONS_KEEP_DAYS, count: environment.EXECUTIONS_KEEP_COUNT },
  }),
})
