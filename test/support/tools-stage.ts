/** The service, and a server of the outside that its tools may call. */
import { onTestFinished } from 'vitest'
import { makeAgent } from './agents.ts'
import { buildApp, type TestApp } from './build-app.ts'
import { type ModelServer, type RecordedRequest, type Reply, startModelServer } from './model-server.ts'

export interface ToolsStage extends AsyncDisposable {
  app: TestApp
  server: ModelServer
  /** Has the server answer so until the test has finished; else it answers `{"ok":true}`. */
  replyWith(reply: (request: RecordedRequest) => Reply): void
  /** The path of the tools of an agent of its own. */
  newAgent(): Promise<string>
}

export async function setToolsStage(): Promise<ToolsStage> {
  const usual = (): Reply => ({ json: { ok: true } })
  let reply: (request: RecordedRequest) => Reply = usual
  const server = await startModelServer(request => reply(request))
  const app = await buildApp({ environment: { DEV_USER: 'dev@example.com', OUTBOUND_ALLOW: '127.0.0.1' } })
  return {
    app,
    server,
    replyWith(chosen) {
      reply = chosen
      onTestFinished(() => {
        reply = usual
      })
    },
    newAgent: async () => `/api/agents/${await makeAgent(app)}/tools`,
    async [Symbol.asyncDispose]() {
      await app.close()
      await server[Symbol.asyncDispose]()
    },
  }
}
