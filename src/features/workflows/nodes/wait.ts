import { Type } from 'typebox'
import { invalid } from '#platform/errors.ts'
import { defineNode, nodeData } from './node-type.ts'

const maxSeconds = 366 * 86_400

const schema = nodeData({
  seconds: Type.Optional(Type.Number({ minimum: 0, maximum: maxSeconds })),
  until: Type.Optional(Type.String({ maxLength: 100 })),
  approval: Type.Optional(Type.String({ minLength: 1, maxLength: 2000 })),
})

/** Waits for a time, or for a person to approve. */
export const wait = defineNode(schema, {
  type: 'wait',
  handles: ({ approval }) => (approval === undefined ? undefined : ['approved', 'rejected', 'timeout']),
  missing({ seconds, until, approval }) {
    const given = [seconds, until, approval].filter(value => value !== undefined)
    return given.length === 1
      ? undefined
      : { field: 'seconds', issue: 'give one of seconds, until and approval' }
  },
  async run({ data, now, resumed }) {
    if (resumed === undefined) return { waitUntil: endOf(data, now), forApproval: data.approval }
    const { approved, by = 'time', data: given = null } = resumed
    const output = { resumed_at: new Date(now).toISOString(), by, data: given }
    if (data.approval === undefined) return { output }
    return { output, handle: approved === undefined ? 'timeout' : approved ? 'approved' : 'rejected' }
  },
})

function endOf({ seconds, until, timeout_seconds = maxSeconds }: WaitData, now: number): number {
  const end = until === undefined ? now + (seconds ?? timeout_seconds) * 1000 : Date.parse(until)
  if (Number.isNaN(end)) throw invalid('until', 'is no time: write it as 2026-12-24T09:00:00+01:00')
  if (end > now + maxSeconds * 1000) throw invalid('until', 'is more than 366 days away')
  return end
}

interface WaitData {
  seconds?: number
  until?: string
  timeout_seconds?: number
}
