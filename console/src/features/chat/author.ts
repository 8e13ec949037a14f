import { useQuery } from '@tanstack/react-query'
import { callerQuery } from '#console/api/caller.ts'
import { useText } from '#console/i18n/text.ts'
import { useAgent } from '#console/shell/agent.tsx'
import { text } from './text.ts'

interface Authored {
  id: string
  created_by?: string
}

/** Names the author of a conversation or message; undefined for the caller, or if the author is unknown. */
export function authorOf(
  { created_by = '' }: Authored,
  caller: string | undefined,
  t: ReturnType<typeof text.current>,
): string | undefined {
  const author = created_by.replace(/^mcp:/, '')
  const [kind, name = ''] = author.split(/:(.*)/s)
  if (author === '' || author === `person:${caller}`) return undefined
  if (kind === 'key') return t.byKey
  if (kind === 'anonymous') return caller === undefined ? undefined : t.byNoUser
  return kind === 'channel' ? name.slice(0, 1).toUpperCase() + name.slice(1) : name || author
}

/** True if the caller may name and rate the resource: admins all, other chatters their own. */
export function useMayAct(authored: Authored): boolean {
  const t = useText(text)
  const agent = useAgent()
  const caller = useQuery(callerQuery).data?.user?.email
  return agent.may('change') || (agent.may('talk') && authorOf(authored, caller, t) === undefined)
}
