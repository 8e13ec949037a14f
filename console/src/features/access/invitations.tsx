import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { agentsQuery } from '#console/api/caller.ts'
import { useChange, useRows } from '#console/api/query.ts'
import { useText } from '#console/i18n/text.ts'
import { useAgent } from '#console/shell/agent.tsx'
import { Button } from '#console/ui/button.tsx'
import { Empty } from '#console/ui/empty.tsx'
import { Heading } from '#console/ui/heading.tsx'
import { List } from '#console/ui/list.tsx'
import type { Values } from '#console/ui/schema.ts'
import { ShownOnce } from '#console/ui/shown-once.tsx'
import { Time } from '#console/ui/time.tsx'
import { toast, toastError } from '#console/ui/toast.tsx'
import { PersonForm } from './person-form.tsx'
import { type Invitation, invitations, invite, listInvitations, withdraw } from './requests.ts'
import { text } from './text.ts'

/** The caller's invitations that are not accepted yet. */
export function Invitations() {
  const t = useText(text)
  const agent = useAgent()
  const agents = useQuery(agentsQuery).data?.agents ?? []
  const rows = useRows<Invitation>(listInvitations, 'invitations')
  const [isAdding, setAdding] = useState(false)
  const [link, setLink] = useState<{ email: string; url: string }>()
  const removal = useChange(withdraw, { changes: [invitations] })
  const add = useChange(invite, {
    changes: [invitations],
    onDone: ({ email, url }) => (url === null ? toast(t.invitationSent(email)) : setLink({ email, url })),
  })
  const requestOf = ({ email, role }: Values) => ({ email, agents: [{ id: agent.id, role }] })
  const nameOf = (id: string) => agents.find(one => one.id === id)?.name ?? id
  const button = (
    <Button kind="primary" icon="plus" onClick={() => setAdding(true)}>
      {t.invite}
    </Button>
  )
  return (
    <>
      <Heading detail={t.invitationsText}>{rows.rows?.length !== 0 && button}</Heading>
      <List
        {...rows}
        label={t.invitations}
        keyOf={({ id }) => id}
        empty={
          <Empty title={t.noInvitations} text={t.noInvitationsText}>
            {button}
          </Empty>
        }
        columns={[
          { title: t.email, cell: ({ email }) => email },
          {
            title: t.role,
            cell: ({ agents: given }) =>
              given.map(({ id, role }) => `${nameOf(id)}: ${t.roles[role]}`).join(', '),
          },
          { title: t.expires, cell: ({ expires_at }) => <Time at={expires_at} /> },
          {
            title: t.actions,
            isTitleHidden: true,
            isAtEnd: true,
            cell: ({ id, email }) => (
              <Button
                kind="quiet"
                icon="trash"
                label={t.withdrawOf(email)}
                onClick={() => removal.mutate(id, { onError: toastError })}
              />
            ),
          },
        ]}
      />
      {isAdding && (
        <PersonForm
          title={t.inviteTo(agent.name)}
          action={t.invite}
          request={values => invite(requestOf(values))}
          onSubmit={values => add.mutateAsync(requestOf(values))}
          onClose={() => setAdding(false)}
        />
      )}
      {link && (
        <ShownOnce
          title={t.invitationFor(link.email)}
          text={t.invitationText}
          secret={link.url}
          onClose={() => setLink(undefined)}
        />
      )}
    </>
  )
}
