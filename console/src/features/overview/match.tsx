import { useQuery } from '@tanstack/react-query'
import { query, useChange } from '#console/api/query.ts'
import { formatExactTime } from '#console/i18n/format.ts'
import { useText } from '#console/i18n/text.ts'
import { useAgent } from '#console/shell/agent.tsx'
import { Combobox } from '#console/ui/combobox.tsx'
import { Dialog } from '#console/ui/dialog.tsx'
import { toast, toastError } from '#console/ui/toast.tsx'
import {
  type AttentionItem,
  changedBy,
  listTransactions,
  matchPayment,
  type Transaction,
} from './requests.ts'
import { text } from './text.ts'

/** A dialog that finds the transaction of a bank's message. */
export function Match({ item, onClose }: { item: AttentionItem; onClose(): void }) {
  const t = useText(text)
  const agent = useAgent()
  const { data, error } = useQuery(query(listTransactions(agent)))
  const match = useChange(matchPayment(agent, item), {
    changes: changedBy(agent),
    onDone() {
      toast(t.matched)
      onClose()
    },
  })
  const options = data?.transactions.map(one => ({ id: one.id, label: labelOf(one) }))
  return (
    <Dialog title={t.matchTitle} onClose={onClose}>
      <p className="detail">{item.detail}</p>
      {error && <p className="error">{error.message}</p>}
      {options?.length === 0 && <p className="hint">{t.noTransactions}</p>}
      {options && options.length > 0 && (
        <Combobox
          label={t.transaction}
          options={options}
          onChoose={({ id }) => match.mutate(id, { onError: toastError })}
        />
      )}
    </Dialog>
  )
}

function labelOf({ amount, currency, from, reference, created_at }: Transaction): string {
  const parts = [`${amount} ${currency}`, from, reference, formatExactTime(new Date(created_at))]
  return parts.filter(Boolean).join(' · ')
}
