import { it } from 'vitest'
import { isFullEndurance } from '../support/endurance.ts'
import { poisonLoad } from '../support/poison-load.ts'
import { type ServerProcess, startServerProcess } from '../support/server-process.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

// In small, `src/platform/jobs/poison.test.ts` shows it in seconds.
it.runIf(isFullEndurance)(
  'an execution and a crawl that kill the service are given up after four starts, and all others end as they should',
  async () => {
    const start = { dataDirectory: temporaryDirectory(), environment: { OUTBOUND_ALLOW: '127.0.0.1' } }
    let server: ServerProcess = await startServerProcess(start)
    using load = await poisonLoad(() => [server.process.pid ?? 0])
    let isOver = false
    const supervised = (async () => {
      for (;;) {
        await server.ended
        if (isOver) return
        server = await startServerProcess(start)
      }
    })()
    await load.begin(() => server.call)
    await load.expectEnds(() => server.call)
    isOver = true
    await server.stop()
    await supervised
  },
)
