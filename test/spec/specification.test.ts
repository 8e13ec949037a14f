import { describe, expect, it } from 'vitest'
import { additions } from './additions.ts'
import { browserActions } from './browser-actions.ts'
import { builtAreas, notYetBuilt } from './built-areas.ts'
import { castInputValues, channels, closeCodes } from './channels.ts'
import { routeOf } from './compare.ts'
import { errorRows, statusCodes } from './error-rows.ts'
import { limits } from './limits.ts'
import { nodeTypes } from './node-types.ts'
import { outboundEvents } from './outbound-events.ts'
import { providerEvents } from './provider-events.ts'
import { restRows, type SpecifiedRow } from './rest-rows.ts'
import { errorRow, limitRow, row, streamEvent } from './row.ts'
import { stateMachines } from './states.ts'
import { streamEvents } from './stream-events.ts'

function countBy<T>(things: readonly T[], key: (thing: T) => string): Record<string, number> {
  const groups = Object.groupBy(things, key)
  return Object.fromEntries(Object.entries(groups).map(([name, group]) => [name, group?.length ?? 0]))
}

function repeated(names: readonly string[]): string[] {
  return names.filter((name, index) => names.indexOf(name) !== index)
}

describe('REST rows', () => {
  it('are the 82 of the endpoint tables and the webhook registration', () => {
    expect(restRows).toHaveLength(82 + 1)
    expect(countBy(restRows, ({ area }) => area)).toEqual({
      agents: 10,
      chat: 10,
      tools: 5,
      mcp: 4,
      sources: 8,
      contacts: 8,
      workflows: 8,
      schedules: 5,
      calendar: 5,
      sql: 2,
      browser: 6,
      payments: 11,
      webhooks: 1,
    })
  })

  it('are listed once each, as are their routes', () => {
    expect(repeated(restRows.map(({ id }) => routeOf(id)))).toEqual([])
  })

  it('answer 201 where something is made, and 200 elsewhere', () => {
    expect(countBy(restRows, ({ success }) => String(success))).toEqual({ 200: 66, 201: 17 })
  })

  it('count against the limit of their kind', () => {
    expect(countBy(restRows, ({ limit }) => limit)).toEqual({ general: 69, chat: 2, browser: 6, bulk: 6 })
  })

  it('answer errors in the shape of their area', () => {
    expect(countBy(restRows, ({ errorShape }) => errorShape)).toEqual({ chat: 10, payments: 11, generic: 62 })
  })

  it('name a field once', () => {
    const fieldsOf = ({
      requestFields = [],
      query = [],
      responseFields,
      conditionalFields = [],
    }: SpecifiedRow) => [
      ...repeated(requestFields),
      ...repeated(query),
      ...repeated([...responseFields, ...conditionalFields]),
    ]
    expect(restRows.filter(each => fieldsOf(each).length > 0).map(({ id }) => id)).toEqual([])
  })
})

describe('error rows', () => {
  const key = (area: string, status: number) => `${area} ${status}`
  const known = errorRows.map(({ area, status }) => key(area, status))
  const claimed = new Set(restRows.flatMap(({ area, errors }) => errors.map(status => key(area, status))))

  it('are the 35 of the error tables, two that the prose adds, and what was decided beside them', () => {
    expect(countBy(errorRows, ({ origin }) => origin)).toEqual({ specification: 35 + 2, decision: 18 })
    expect(repeated(known)).toEqual([])
  })

  it('use the listed status codes', () => {
    expect(statusCodes).toHaveLength(18)
    expect(errorRows.filter(({ status }) => !statusCodes.includes(status))).toEqual([])
  })

  it('hold every error that a REST row claims', () => {
    expect([...claimed].filter(each => !known.includes(each))).toEqual([])
  })

  it('are each claimed by a REST row of their area', () => {
    // 402 comes from gated routes of other areas; the 404 of webhooks from taking one back, which is an addition.
    const unclaimed = known.filter(each => !each.startsWith('shared ') && !claimed.has(each))
    expect(unclaimed).toEqual(['payments 402', 'webhooks 404'])
  })
})

describe('channels', () => {
  it('are four, with the messages of the specification', () => {
    const shape = channels.map(({ path, clientMessages, serverMessages }) => [
      path,
      clientMessages.length,
      serverMessages.length,
    ])
    expect(shape).toEqual([
      ['/v1/sessions/cast', 5, 4],
      ['/v1/sessions/logs', 0, 1],
      ['/v1/sessions/pageId', 0, 1],
      ['/v1/sessions/recording', 0, 1],
    ])
  })

  it('close with codes of the private range, and take the listed input values', () => {
    expect(Object.values(closeCodes).filter(code => code < 4000 || code > 4999)).toEqual([])
    expect(Object.values(castInputValues).map(values => values.length)).toEqual([4, 3, 4])
  })
})

describe('the other tables', () => {
  it.each([
    ['stream events', 7, streamEvents.map(({ type }) => type)],
    ['inbound provider events', 3, providerEvents.map(({ type }) => type)],
    ['outbound events', 14, outboundEvents.map(({ name }) => name)],
    ['limits', 14, limits.map(({ name }) => name)],
    ['workflow node types', 13, nodeTypes.map(({ name }) => name)],
    ['browser actions', 12, browserActions.map(({ name }) => name)],
    ['state machines', 8, stateMachines.map(({ name }) => name)],
    ['additions', 126, additions.map(({ route }) => route)],
  ])('have their %s, %i of them, once each', (_, count, names) => {
    expect(names).toHaveLength(count)
    expect(repeated(names)).toEqual([])
  })

  it('have every row of the state tables, between listed states', () => {
    const tables = stateMachines.map(({ name, transitions }) => [name, transitions.length] as const)
    expect(Object.fromEntries(tables.filter(([, count]) => count > 0))).toEqual({
      source: 5,
      'conversation lock': 3,
      schedule: 4,
    })
    const astray = stateMachines.filter(({ states, transitions }) => {
      const known: readonly (string | null)[] = [null, ...states]
      return transitions.some(({ from, to }) => !known.includes(from) || !known.includes(to))
    })
    expect(astray).toEqual([])
  })

  it('have no addition that is a row', () => {
    const routes = restRows.map(({ id }) => routeOf(id))
    expect(additions.filter(({ route }) => routes.includes(route))).toEqual([])
  })
})

describe('what is built', () => {
  it('is listed by area, with the rows that wait and why', () => {
    expect(repeated(builtAreas)).toEqual([])
    expect(repeated(notYetBuilt.map(({ marker }) => marker))).toEqual([])
    expect(notYetBuilt.filter(({ reason }) => reason.length < 20)).toEqual([])
  })
})

describe('markers', () => {
  it('keep their text', () => {
    expect(row('GET /api/agents')).toBe('[GET /api/agents]')
    expect(row('DELETE /api/agents/{id}/tools?id={toolId}')).toBe(
      '[DELETE /api/agents/{id}/tools?id={toolId}]',
    )
    expect(errorRow('agents', 409)).toBe('[error agents 409]')
    expect(limitRow('agent-description')).toBe('[limit agent-description]')
    expect(streamEvent('content_delta')).toBe('[stream content_delta]')
  })
})
