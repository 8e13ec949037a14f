/** Requests whose caller's role on the agent is taken away, or whose agent is deleted, while their body is on its way. */
import { type ClientRequest, type IncomingMessage, request as sendRequest } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { agentsWithData } from '#test/support/agent-data.ts'
import { giveRole, makeAgent } from '#test/support/agents.ts'
import { buildApp, type TestApp } from '#test/support/build-app.ts'
import { type Gateway, startGateway } from '#test/support/gateway.ts'
import { formOf } from '#test/support/upload.ts'

type Headers = Record<string, string>

let gateway: Gateway
let app: TestApp
let url: string
let owner: Headers
let guest: Headers

beforeAll(async () => {
  gateway = await startGateway()
  app = await buildApp({ environment: gateway.environment })
  url = await app.listen()
  owner = await gateway.headers('owner@example.com')
  guest = await gateway.headers('guest@example.com')
})

afterAll(async () => {
  await app.close()
  await gateway.close()
})

/** An agent of the owner's on which the guest is an admin, for as long as `remove` was not called. */
async function setStage() {
  const call = (method: string, path: string) => app.call(method, path, { headers: owner })
  const id = await makeAgent(app, { headers: owner })
  const give = (role: 'admin' | 'viewer') =>
    giveRole(app, id, { email: 'guest@example.com', role, headers: owner })
  const entry = await give('admin')
  return {
    path: `/api/agents/${id}`,
    call,
    remove: () => call('DELETE', entry),
    /** As a viewer, who may read and no more. */
    async degrade() {
      await call('DELETE', entry)
      await give('viewer')
    },
  }
}

interface Arriving {
  answered: Promise<{ status: number; text: string }>
  /** Sends what is left; the answer to it. */
  sendRest(): Promise<{ status: number; text: string }>
  abandon(): void
}

/** Sends a request up to the middle of its body; resolves once the service has let it in and reads on. */
async function beginToSend(path: string, body: Buffer, headers: Headers): Promise<Arriving> {
  const half = Math.floor(body.length / 2)
  const options = { method: 'POST', headers: { ...guest, ...headers, 'content-length': body.length } }
  const request = sendRequest(`${url}${path}`, options)
  const answered = answerTo(request)
  const letIn = new Promise<void>(resolve => {
    app.service.app.server.once('request', (incoming: IncomingMessage) => incoming.once('resume', resolve))
  })
  request.write(body.subarray(0, half))
  await letIn
  return {
    answered,
    sendRest() {
      request.end(body.subarray(half))
      return answered
    },
    abandon: () => void request.destroy(),
  }
}

function answerTo(request: ClientRequest): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    request.once('error', reject)
    request.once('response', response => {
      let text = ''
      response.setEncoding('utf8').on('data', piece => {
        text += piece
      })
      response.once('end', () => resolve({ status: response.statusCode ?? 0, text }))
    })
  })
}

const json = { 'content-type': 'application/json' }

function jsonOf(value: object): Buffer {
  return Buffer.from(JSON.stringify(value))
}

describe('a caller who loses the role on the agent while the body arrives', () => {
  it('sends no message', async () => {
    const { path, remove, call } = await setStage()
    const sending = await beginToSend(`${path}/chat`, jsonOf({ content: 'Hello' }), json)
    await remove()
    const denied =
      'Access denied: guest@example.com has no role on this agent. Ask one of its owners for one.'
    expect(await sending.sendRest()).toEqual({ status: 403, text: denied })
    expect((await call('GET', `${path}/chat`)).body).toMatchObject({ messages: [] })
  })

  it('begins no conversation, also where a lesser role is left', async () => {
    const { path, degrade, call } = await setStage()
    const body = jsonOf({ title: 'Mine' })
    const sending = await beginToSend(`${path}/chat/conversations`, body, json)
    await degrade()
    expect((await sending.sendRest()).status).toBe(403)
    expect((await call('GET', `${path}/chat/conversations`)).body).toMatchObject({ conversations: [] })
  })

  it('uploads no file, and leaves nothing of it', async () => {
    const { path, remove, call } = await setStage()
    const { payload, headers } = await formOf([
      ['type', 'file'],
      ['name', 'secret.txt'],
      ['file', new File(['Words of somebody else. '.repeat(100)], 'secret.txt')],
    ])
    const sending = await beginToSend(`${path}/sources`, Buffer.from(payload), headers)
    await remove()
    expect((await sending.sendRest()).status).toBe(403)
    expect((await call('GET', `${path}/sources`)).body).toMatchObject({ sources: [] })
  })

  it('is let in where the role stays', async () => {
    const { path } = await setStage()
    const sending = await beginToSend(`${path}/chat/conversations`, jsonOf({ title: 'Mine' }), json)
    expect((await sending.sendRest()).status).toBe(201)
  })
})

describe('an upload whose agent is deleted while it arrives', () => {
  const content = 'A long report. '.repeat(10_000)
  it.each<[where: string, parts: Parameters<typeof formOf>[0]]>([
    [
      'in its file',
      [
        ['type', 'file'],
        ['file', new File([content], 'report.txt')],
      ],
    ],
    [
      'behind its file',
      [
        ['file', new File(['Short.'], 'report.txt')],
        ...Array.from({ length: 4 }, (): [string, string] => ['name', content.slice(0, 50_000)]),
      ],
    ],
  ])('is refused at once, and nothing is left of it: %s', async (_where, parts) => {
    const { path, call } = await setStage()
    const { payload, headers } = await formOf(parts)
    const sending = await beginToSend(`${path}/sources`, Buffer.from(payload), headers)
    const deleted = call('DELETE', path)
    const { status, text } = await sending.answered
    expect({ status, body: JSON.parse(text) }).toMatchObject({
      status: 404,
      body: { error: { code: 'NOT_FOUND' } },
    })
    expect((await deleted).status).toBe(200)
    expect(await agentsWithData(app.dataDirectory)).not.toContain(path.split('/').at(-1))
    sending.abandon()
  })
})
