/** Against the reference server of the protocol's authors, over both transports. */
import { describe, expect, it } from 'vitest'
import { mcpStage } from '#test/support/mcp-stage.ts'
import { startReferenceServer } from '#test/support/reference-mcp-server.ts'

const signal = new AbortController().signal

describe.each(['streamableHttp', 'sse'] as const)('the reference server over %s', transport => {
  it('is listed with its tools, which are approved, and called', async () => {
    const stage = await mcpStage()
    const reference = await startReferenceServer(transport)
    const server = await stage.register({ name: 'everything', url: reference.url })
    expect(server).toMatchObject({ name: 'everything', url: reference.url, status: 'connected' })
    const { tools, skipped } = await stage.tools(server.id)
    expect(skipped).toEqual([])
    expect(tools.length).toBeGreaterThan(9)
    expect(new Set(tools.map(({ status }) => status))).toEqual(new Set(['approved']))
    expect(tools.find(({ name }) => name === 'echo')).toMatchObject({
      parameters: { type: 'object', properties: { message: { type: 'string' } } },
    })

    const offered = await stage.service.tools(stage.agent)
    expect(offered.map(({ name }) => name).sort()).toEqual(tools.map(({ name }) => name).sort())
    const echo = offered.find(({ name }) => name === 'echo')
    expect(await echo?.check({})).toContain('message')
    expect(await echo?.execute({ message: 'grüezi' }, signal)).toEqual({ text: 'Echo: grüezi' })
    expect(await stage.service.call(stage.agent, server.id, 'get-sum', { a: 2, b: 40 }, signal)).toEqual({
      text: 'The sum of 2 and 40 is 42.',
    })
  })

  it('is reached again within a call after it was started anew', async () => {
    const stage = await mcpStage()
    const first = await startReferenceServer(transport)
    const { id } = await stage.register({ name: 'everything', url: first.url })
    const call = () => stage.service.call(stage.agent, id, 'echo', { message: 'still here' }, signal)
    await call()
    await first.kill()
    await expect(call()).rejects.toMatchObject({ code: 'OUTBOUND_FAILED' })
    expect(await stage.server(id)).toMatchObject({ status: 'disconnected', error: expect.any(String) })
    const second = await startReferenceServer(transport, Number(new URL(first.url).port))
    expect(await call()).toEqual({ text: 'Echo: still here' })
    expect(await stage.server(id)).toMatchObject({ status: 'connected' })
    await second.kill()
    await startReferenceServer(transport, Number(new URL(first.url).port))
    expect(await call()).toEqual({ text: 'Echo: still here' })
  })
})
