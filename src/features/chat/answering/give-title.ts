import type { Log } from '#platform/logging/log.ts'
import { inTransaction } from '#platform/transactions/transaction.ts'
import type { AgentDatabases } from '#storage/agent-databases.ts'
import type { ChatMessage } from '../chat.schema.ts'
import { putTitle } from '../rows/conversations.repository.ts'
import type { Running } from '../turn/running.ts'
import { cutEnd } from '../turn/truncate-result.ts'
import { answerAlone } from './planning/answer-alone.ts'
import type { TurnPlanner } from './planning/plan.ts'
import type { Question } from './question.ts'

const timeoutMs = 30_000
/** Max characters of the question, and of the answer. */
const shownCharacters = 2000
const titleCharacters = 80

const instructions =
  'Give the conversation that you are shown a title of two to six words, in its language. Answer with the title alone.'

interface Dependencies {
  planner: TurnPlanner
  agentDatabases: AgentDatabases
  running: Pick<Running, 'run'>
  log: Log
}

export type GiveTitle = ReturnType<typeof createTitles>

/**
 * Names a conversation by the agent's `title_model` after its first answer, in the background. The title remains if this
 * fails, or if a person has changed it meanwhile.
 */
export function createTitles({ planner, agentDatabases, running, log }: Dependencies) {
  async function give(
    { title, userMessage }: Question,
    { content }: ChatMessage,
    agentId: string,
    signal: AbortSignal,
  ) {
    const { model, former } = title ?? {}
    if (model === undefined || former === undefined) return
    const shown = [userMessage.content, content].map(text => cutEnd(text.trim(), shownCharacters))
    await agentDatabases.use(agentId, async agent => {
      const question = { content: shown.join('\n\n---\n\n'), model, instructions }
      const without = { enableTools: false, autoRag: false, isOutsider: true }
      const said = await answerAlone(planner, agent, { ...question, ...without }, signal)
      const given = titleIn(said.content)
      if (given === '') return
      await inTransaction(agent.db, transaction =>
        putTitle(transaction, userMessage.conversationId, { title: given, former }),
      )
    })
  }

  return (question: Question, answer: ChatMessage): void => {
    if (question.title?.model === undefined) return
    const { agent, title } = question
    const { agentId } = agent
    const signals = [AbortSignal.timeout(timeoutMs), agent.signal]
    running
      .run(signals, ({ signal }) => give(question, answer, agentId, signal))
      .catch(error => log.warn({ err: error, agentId, model: title?.model }, 'naming a conversation failed'))
  }
}

/** Returns the first line with a word in it, without the marks that models put around. */
function titleIn(answer: string): string {
  const line = answer.split('\n').find(text => /[\p{L}\p{N}]/u.test(text)) ?? ''
  const bare = line.replace(/^[\s"'“”„«»*#_`]+/, '').replace(/[\s"'“”„«»*#_`.]+$/, '')
  return cutEnd(bare, titleCharacters)
}
