import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { callerQuery } from '#console/api/caller.ts'
import { useChange, useRows } from '#console/api/query.ts'
import { useText } from '#console/i18n/text.ts'
import { useAgent } from '#console/shell/agent.tsx'
import { Button } from '#console/ui/button.tsx'
import { confirm } from '#console/ui/confirm.tsx'
import { Empty } from '#console/ui/empty.tsx'
import { Heading } from '#console/ui/heading.tsx'
import { List } from '#console/ui/list.tsx'
import { Menu } from '#console/ui/menu.tsx'
import { Time } from '#console/ui/time.tsx'
import { toast, toastError } from '#console/ui/toast.tsx'
import { BudgetForm } from './budget-form.tsx'
import { PersonForm } from './person-form.tsx'
import { type AdminEntry, addAdmin, changeAdmin, listAdmins, removeAdmin, signOutAdmin } from './requests.ts'
import { budgetIn, proofIn, text } from './text.ts'

interface Change {
  mutate(id: string, options: { onError: typeof toastError }): void
}

/** Makes the change once the person confirms it. */
async function ask(change: Change, { id, email }: AdminEntry, question: Question) {
  const [titleOf, text, action] = question
  if (await confirm({ title: titleOf(email), text, action, isDangerous: true }))
    change.mutate(id, { onError: toastError })
}

type Question = [titleOf: (email: string) => string, text: string, action: string]

/** The people who have a role on the agent. */
export function Admins() {
  const t = useText(text)
  const agent = useAgent()
  const admins = `${agent.api}/admins`
  const { user, public_access } = useQuery(callerQuery).data ?? {}
  const open = agent.id === 'default' ? public_access : 'none'
  const rows = useRows<AdminEntry>(listAdmins(admins), 'admins')
  const [bounded, setBounded] = useState<AdminEntry>()
  const [isAdding, setAdding] = useState(false)
  const options = { changes: [admins, '/api/auth/agents'] }
  const removal = useChange(removeAdmin(admins), options)
  const ending = useChange(signOutAdmin(admins), { changes: [], onDone: () => toast(t.signedOut) })
  const add = useChange(addAdmin(admins), {
    ...options,
    onDone: ({ email, role, hint }) => toast([t.added(email, t.roles[role]), hint].filter(Boolean).join(' ')),
  })

  const signOut = (entry: AdminEntry) => ask(ending, entry, [t.signOutTitle, t.signOutText, t.signOutAll])
  const remove = (entry: AdminEntry) => ask(removal, entry, [t.removeTitle, t.removeText, t.remove])

  return (
    <>
      <Heading detail={[t.peopleText, open && t.withoutRole[open]].filter(Boolean).join(' ')}>
        {agent.may('own') && (
          <Button kind="primary" icon="plus" onClick={() => setAdding(true)}>
            {t.add}
          </Button>
        )}
      </Heading>
      <List
        {...rows}
        label={t.people}
        keyOf={({ id }) => id}
        empty={<Empty title={t.noPeople} text={t.noPeopleText} />}
        columns={[
          {
            title: t.email,
            cell: ({ email }) => (
              <>
                {email} {email === user?.email && <span className="hint">{t.you}</span>}
              </>
            ),
          },
          { title: t.role, cell: ({ role }) => t.roles[role] },
          ...(agent.may('own') ? [{ title: t.proof, cell: (entry: AdminEntry) => proofIn(entry, t) }] : []),
          { title: t.budget, cell: entry => budgetIn(entry, t) },
          { title: t.since, cell: ({ created_at }) => <Time at={created_at} /> },
          {
            title: t.actions,
            isTitleHidden: true,
            isAtEnd: true,
            cell: entry =>
              agent.may('own') && (
                <Menu
                  button={{ kind: 'quiet', icon: 'more', label: t.actionsOf(entry.email) }}
                  items={[
                    { label: t.budget, icon: 'chart', run: () => setBounded(entry) },
                    { label: t.signOutAll, icon: 'close', run: () => void signOut(entry) },
                    { label: t.remove, icon: 'trash', isDangerous: true, run: () => void remove(entry) },
                  ]}
                />
              ),
          },
        ]}
      />
      {bounded && (
        <BudgetForm
          title={t.budgetOf(bounded.email)}
          values={bounded}
          requestOf={changeAdmin(admins, bounded.id)}
          list={admins}
          onClose={() => setBounded(undefined)}
        />
      )}
      {isAdding && (
        <PersonForm
          title={t.add}
          action={t.addAction}
          hint={t.addHint}
          request={addAdmin(admins)}
          onSubmit={add.mutateAsync}
          onClose={() => setAdding(false)}
        />
      )}
    </>
  )
}
