/** The console's words about events, for users who do not know the state machine: states, advice, and actions. */

import type { Estado } from '../../base/pages/fields.ts';
import type { Papel } from '../../base/world/papeis.ts';
import type { AcaoSugerida, EventoEstado } from '../../fiscal/evento.ts';
import { type CampoEvento, tipoByCodigo } from '../../fiscal/tipos-evento.ts';
import type { Operacao } from './operate.ts';
import type { EventoPublico } from './queries.ts';

type Dito = Estado & { readonly diz: string; readonly fazer: string };

const ESTADOS: Readonly<Record<EventoEstado, Dito>> = {
  pendente: {
    nome: 'à espera de envio',
    tom: 'aviso',
    diz: 'Foi registrado, e ainda não foi enviado ao ambiente nacional (ADN).',
    fazer:
      'Nada, de início: o serviço o envia em segundos. Se está assim há mais de cinco minutos, veja em Hoje se o ADN atende.',
  },
  enviado: {
    nome: 'enviado, sem resposta ainda',
    tom: 'aviso',
    diz: 'Foi enviado ao ADN, e a resposta ainda não é conhecida.',
    fazer: 'Nada: o serviço pergunta sozinho até saber.',
  },
  aguardando_autorizacao_nota: {
    nome: 'à espera da nota',
    tom: 'aviso',
    diz: 'A nota ainda não foi autorizada, ou o ADN ainda não a conhece. O evento segue depois dela.',
    fazer: 'Nada, enquanto a nota segue o seu caminho. Se ela está parada, resolva primeiro a nota.',
  },
  processado: { nome: 'registrado no ADN', tom: 'bom', diz: 'O ADN o registrou: ele vale na nota.', fazer: '' },
  rejeitado: {
    nome: 'recusado pelo ADN',
    tom: 'erro',
    diz: 'O ADN o recusou, e ele não vale.',
    fazer:
      'Leia o motivo. Quem o pediu também o lê, e pode registrar outro, corrigido. Visto o caso, arquive a recusa: ela sai da lista, e mais nada muda.',
  },
  erro: {
    nome: 'o envio falhou',
    tom: 'erro',
    diz: 'O envio falhou sem que o ADN dissesse sim ou não.',
    fazer:
      'As tentativas automáticas acabaram. Reprocesse-o: o serviço pergunta antes ao ADN se já o tem, e só então o envia.',
  },
  erro_reprocessamento: {
    nome: 'separado para análise',
    tom: 'aviso',
    diz: 'A resposta do ADN não pôde ser entendida, ou alguém da prefeitura o separou. Ele não é mais enviado sozinho.',
    fazer: 'Leia o que o ADN respondeu. Reprocesse-o para tentar outra vez, ou dispense-o se não há o que enviar.',
  },
  cancelado: { nome: 'retirado', tom: 'fim', diz: 'A prefeitura o retirou antes do envio, e ele não vale.', fazer: '' },
  dispensado: { nome: 'dispensado do envio', tom: 'fim', diz: 'Ele não é enviado ao ADN.', fazer: '' },
};

/** The name of an event's state. */
export function nameEstado(estado: EventoEstado): string {
  return ESTADOS[estado].nome;
}

const SEGUE: ReadonlySet<AcaoSugerida> = new Set(['aguardar', 'retentar']);

/** Explains the state of an event, and the next action. */
export function explainEvento({
  status_evento,
  desfecho,
  acao_sugerida,
}: Pick<EventoPublico, 'status_evento' | 'desfecho' | 'acao_sugerida'>): Dito {
  const dito = ESTADOS[status_evento];
  if (status_evento === 'erro' && SEGUE.has(acao_sugerida)) {
    return { ...dito, tom: 'aviso', fazer: 'Nada, por enquanto: o serviço tenta de novo sozinho.' };
  }
  if (status_evento !== 'dispensado') return dito;
  const vale = desfecho === 'valido_no_municipio' ? 'Vale na nota, neste município.' : 'Não vale na nota.';
  return { ...dito, diz: `${dito.diz} ${vale}` };
}

type Ato = {
  readonly botao: string;
  /** The past form, as in "12 eventos reprocessados". */
  readonly feito: string;
  readonly faz: string;
  readonly papel: Papel;
  readonly isGrave: boolean;
};

/** The actions, in the order of the page, each with its effect in one sentence. */
export const ATOS: Readonly<Record<Operacao, Ato>> = {
  reprocessar: {
    botao: 'Reprocessar',
    feito: 'reprocessado',
    faz: 'Tenta outra vez: o serviço pergunta ao ADN se já tem o evento e, se não tem, o envia.',
    papel: 'atendimento',
    isGrave: false,
  },
  arquivar: {
    botao: 'Arquivar a recusa',
    feito: 'arquivado',
    faz: 'Dá o caso por visto: o evento recusado sai da lista dos que pedem atenção, e quem o pediu continua a ver a recusa e o motivo.',
    papel: 'operacao',
    isGrave: false,
  },
  separar: {
    botao: 'Separar para análise',
    feito: 'separado',
    faz: 'Deixa o evento parado, sem novas tentativas, até que alguém o reprocesse ou o dispense.',
    papel: 'operacao',
    isGrave: false,
  },
  cancelar: {
    botao: 'Retirar antes do envio',
    feito: 'retirado',
    faz: 'Desfaz o pedido antes que o ADN o receba: o evento não muda a nota. Não se desfaz: quem o pediu teria de registrar outro.',
    papel: 'operacao',
    isGrave: true,
  },
  dispensar: {
    botao: 'Dispensar do envio',
    feito: 'dispensado',
    faz: 'Desiste de enviar o evento ao ADN, também depois de tentativas: se o ADN o recebeu numa delas, lá ele vale. Não se desfaz.',
    papel: 'operacao',
    isGrave: true,
  },
};

export function isOperacao(text: string): text is Operacao {
  return Object.hasOwn(ATOS, text);
}

/** The fields of an event by their meanings, with the values in words. */
export function describeCampos(
  codigo: string,
  campos: Readonly<Record<string, string>>,
): readonly (readonly [name: string, value: string])[] {
  const known = tipoByCodigo(codigo)!.campos;
  return Object.entries(campos).map(([nome, valor]) => {
    const campo = known.find((one) => one.nome === nome);
    const meaning = campo?.opcoes?.find((one) => one.codigo === valor)?.descricao;
    return [campo === undefined ? nome : labelOf(campo), meaning === undefined ? valor : `${valor}: ${meaning}`];
  });
}

/** The meaning of a field, without its form. */
export function labelOf({ sobre }: Pick<CampoEvento, 'sobre'>): string {
  return sobre.replace(/(?:, só dígitos|, de 15 a 255 caracteres)?\.$/, '');
}

/** `1 evento`, `3 eventos`. */
export function countEventos(count: number): string {
  return count === 1 ? '1 evento' : `${count.toLocaleString('pt-BR')} eventos`;
}

/** A moment of an event, as `2026-11-27T10:00:00-03:00`, in the usual Brazilian form. */
export function writtenMoment(iso: string): string {
  const [, year, month, day, time] = /^(\d{4})-(\d\d)-(\d\d)T(\d\d:\d\d:\d\d)/.exec(iso) ?? [];
  return year === undefined ? iso : `${day}/${month}/${year} ${time}`;
}
