/** One app with one browser session for a test file, and a site on this machine that its pages may reach. */
import { afterAll, beforeAll } from 'vitest'
import { type Answer, buildApp, type TestApp } from './build-app.ts'
import { type AnswerSite, type Site, startSite } from './site-server.ts'

export interface BrowserStage {
  app: TestApp
  site: Site
  /** Of the session that `run` acts in. */
  sessionId: string
  /** One action, or several. */
  run<Body = Executed>(...actions: Action[]): Promise<Answer<Body>>
  /** One action that succeeds; its result. */
  result(action: Action): Promise<ActionResult>
}

export interface Action {
  action: string
  [field: string]: unknown
}

export interface ActionResult {
  url: string
  title: string
  [field: string]: unknown
}

export interface Executed {
  success: boolean
  result?: ActionResult
  results?: { action: string; success: boolean; error?: string; result?: ActionResult }[]
  error?: { code: string; message: string; details?: { field: string } }
}

export const browserPath = '/api/agents/default/browser'

/** To be called once, at the top of a file. */
export function browserStage(answer: AnswerSite, environment: Record<string, string> = {}): BrowserStage {
  const stage = {
    async run(...actions: Action[]) {
      const body = actions.length === 1 ? actions[0] : { actions }
      return await stage.app.call('POST', `${browserPath}/${stage.sessionId}/execute`, { body })
    },
    async result(action: Action) {
      const { status, body } = await stage.run<Executed>(action)
      if (status !== 200 || body.result === undefined) throw new Error(JSON.stringify(body))
      return body.result
    },
  } as BrowserStage

  beforeAll(async () => {
    stage.site = await startSite(answer)
    stage.app = await buildApp({ environment: { OUTBOUND_ALLOW: '127.0.0.1', ...environment } })
    stage.sessionId = await openSession(stage.app)
  })

  afterAll(async () => {
    await stage.app?.close()
    await stage.site?.[Symbol.asyncDispose]()
  })

  return stage
}

export async function openSession(app: TestApp, body: object = {}): Promise<string> {
  const opened = await app.call<{ id: string }>('POST', browserPath, { body })
  if (opened.status !== 201) throw new Error(JSON.stringify(opened.body))
  return opened.body.id
}
