import { group, whole } from './variables.ts'

/** How long finished executions of workflows are kept, and how many of each agent. */
export const executions = group({
  variables: {
    EXECUTIONS_KEEP_DAYS: whole(14, 1, 3650),
    EXECUTIONS_KEEP_COUNT: whole(10_000, 0, 10_000_000),
  },
  read: environment => ({
    executionsKept: { days: environment.EXECUTIONS_KEEP_DAYS, count: environment.EXECUTIONS_KEEP_COUNT },
  }),
})
