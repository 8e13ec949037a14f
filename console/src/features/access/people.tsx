import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { callerQuery } from '#console/api/caller.ts'
import { listQuery, queryClient } from '#console/api/query.ts'
import { useText } from '#console/i18n/text.ts'
import { useAgent } from '#console/shell/agent.tsx'
import type { LoadContext, ViewProps } from '#console/shell/view.ts'
import { Tabs } from '#console/ui/tabs.tsx'
import { Admins } from './admins.tsx'
import type { peopleSearch } from './feature.ts'
import { Invitations } from './invitations.tsx'
import { Keys } from './keys.tsx'
import { listAdmins } from './requests.ts'
import { text } from './text.ts'
import './access.css'

export const prefetch = ({ agent }: LoadContext) =>
  queryClient.prefetchInfiniteQuery(listQuery(listAdmins(`${agent.api}/admins`), 'admins'))

/** Access to the agent: people with a role, invited people, and keys of programs. */
export default function People({ search: { tab } }: ViewProps<never, typeof peopleSearch>) {
  const t = useText(text)
  const agent = useAgent()
  const navigate = useNavigate()
  const hasUser = useQuery(callerQuery).data?.user != null
  const tabs = [
    { name: 'people', title: t.people },
    ...(hasUser && agent.may('own') ? [{ name: 'invitations', title: t.invitations }] : []),
    ...(agent.may('change') ? [{ name: 'keys', title: t.agentKeys }] : []),
  ]
  const chosen = tabs.find(({ name }) => name === tab)?.name ?? 'people'
  return (
    <div className="page access">
      <Tabs
        label={t.access}
        tabs={tabs}
        chosen={chosen}
        onChoose={name => void navigate({ to: '.', search: { tab: name }, replace: true })}
      >
        {chosen === 'people' && <Admins />}
        {chosen === 'invitations' && <Invitations />}
        {chosen === 'keys' && <Keys keys={`${agent.api}/keys`} />}
      </Tabs>
    </div>
  )
}
