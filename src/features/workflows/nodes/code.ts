import { Type } from 'typebox'
import { AppError } from '#platform/errors.ts'
import { withAliases } from '#platform/templates/resolve-templates.ts'
import { describeFailure } from '#sandbox/javascript/describe-failure.ts'
import type { Sandbox } from '#sandbox/javascript/sandbox.ts'
import { defineNode, nodeData } from '../engine/node-type.ts'
import { outputsJson } from '../engine/scope.ts'

const schema = nodeData({ code: Type.String({ maxLength: 200_000 }) })

/** Max wait for a sandbox (ms); after it the node pauses, which does not use its own time. */
const maxWaitMs = 500
const pauseMs = 1_000

/** Runs JavaScript in the sandbox; the output is what it returns. */
export const createCode = (sandbox: Sandbox) =>
  defineNode(schema, {
    literal: ['code'],
    verbatim: ['code'],
    async check({ code }, agentId) {
      const issue = typeof code === 'string' ? await sandbox.check(code, agentId) : undefined
      return issue === undefined ? undefined : { field: 'code', issue }
    },
    async run({ agent, data: { code }, scope, execution, signal, now }) {
      const { input, loop, trigger } = scope
      const own = { input: withAliases(input), loop, trigger, execution: { id: execution.id } }
      const others = JSON.stringify(own)
      const argumentJson = `${others.slice(0, -1)},"nodes":${outputsJson(scope)}}`
      const run = await sandbox.run({ code, argumentJson, owner: agent.agentId, signal, maxWaitMs })
      if (run.outcome === 'returned') return { output: run.value }
      if (run.outcome === 'busy') return { waitUntil: now + pauseMs, forApproval: undefined }
      throw new AppError('TOOL_FAILED', describeFailure(run), { isPermanent: run.outcome === 'refused' })
    },
  })
