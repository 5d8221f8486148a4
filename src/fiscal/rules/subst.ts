/**
 * Rules of the replaced note, `subst`: about its key, and about the state of the note itself, if this service issued it. A note that the
 * municipality issued by another system is unknown here: the national environment judges it.
 */
import { parseChave } from '../chave.ts';
import { isBlocked } from '../conflitos-evento.ts';
import type { Facts, NotaSubstituida } from '../facts.ts';
import type { Dps } from '../layout/dps.ts';
import { annexHead, ofPart, type Patch, type Rule, whenPresent } from './rule.ts';

/** Note 1 of September 2026 of the provider of the example, in the municipality of the example. */
const CHAVE = '35503081211222333000181000000000000126091234567895';

const SUBSTITUICAO: Patch = {
  'subst/chSubstda': CHAVE,
  'subst/cMotivo': '99',
  'subst/xMotivo': 'Descrição do serviço incorreta',
};

/** The same note, as if the national emitter had issued it. */
const CHAVE_DO_EMISSOR_NACIONAL = '35503082211222333000181000000000000126091234567892';

const CANCELAMENTO_POR_SUBSTITUICAO = '105102';

type Subst = NonNullable<Dps['subst']>;

const readSubst = ({ subst }: Dps): Subst | undefined => subst;

/** A forbidden condition of the replaced note of this service. `says`: the message, with the name of the note. */
function forbidReplacing({
  is,
  says,
  ...rule
}: Pick<Rule, 'code' | 'title' | 'mend' | 'why'> & {
  readonly is: (nota: NotaDaqui) => boolean;
  readonly says: (nota: string) => string;
}): Rule {
  return whenPresent((_dps, facts) => substituidaOf(facts), {
    ...rule,
    ...annexHead(rule.code),
    at: 'subst/chSubstda',
    message: (_nota, { subst }) => says(`nota ${subst?.chSubstda}, em subst/chSubstda`),
    must: (nota) => !is(nota),
    found: (_nota, { subst }) => subst?.chSubstda,
    rejects: [],
    accepts: [SUBSTITUICAO],
  });
}

export const SUBST: readonly Rule[] = ofPart(
  ({ subst }) => subst !== undefined,
  [
    whenPresent(readSubst, {
      ...annexHead('E0042'),
      at: 'subst/chSubstda',
      title: 'A chave da nota substituída não é de uma nota deste prestador',
      message: (subst, dps) =>
        `${describeProblem(subst, dps)} Copie a chave inteira da nota a substituir, de 50 posições.`,
      mend: 'Copie a chave da nota a substituir como está nela. Uma nota só substitui outra do mesmo prestador, emitida pelo mesmo município.',
      why: 'A chave traz o município e o prestador da nota, que são os mesmos na substituta, e um dígito que denuncia o erro de cópia.',
      must: (subst, dps) => describeProblem(subst, dps) === undefined,
      found: ({ chSubstda }) => chSubstda,
      expected: 'chave de uma NFS-e do mesmo município e do mesmo prestador, com o dígito verificador certo',
      rejects: [
        { ...SUBSTITUICAO, 'subst/chSubstda': `${CHAVE.slice(0, 49)}6` },
        { ...SUBSTITUICAO, 'subst/chSubstda': '33045571211222333000181000000000000126091234567892' },
        { ...SUBSTITUICAO, 'subst/chSubstda': '35503081211444777000161000000000000126091234567899' },
        { ...SUBSTITUICAO, 'subst/chSubstda': '35503081100052998224725000000000000126091234567895' },
      ],
      accepts: [
        SUBSTITUICAO,
        {
          ...SUBSTITUICAO,
          'prest/CNPJ': null,
          'prest/CPF': '52998224725',
          'subst/chSubstda': '35503081100052998224725000000000000126091234567895',
        },
      ],
    }),
    forbidReplacing({
      code: 'E0044',
      title: 'A nota a substituir não existe',
      says: (nota) =>
        `A ${nota}, foi recusada pelo ADN e não tem efeito: não há o que substituir. Emita esta sem o grupo subst.`,
      mend: 'Confira subst/chSubstda. Uma nota que o ADN recusou não se substitui: emita a nova sem o grupo subst, que a série e o número da recusada estão livres.',
      why: 'Uma nota recusada não existe para o ambiente nacional, e o que não existe não se substitui.',
      is: ({ estado }) => estado === 'recusada',
    }),
    whenPresent(readSubst, {
      code: 'E0044',
      at: 'subst',
      scope: 'aviso',
      message: ({ chSubstda }) =>
        `A nota ${chSubstda}, em subst/chSubstda, não é deste serviço, que não pode conferi-la. Se o município a emitiu por outro sistema, o evento cancelamento_por_substituicao dela é registrado por ele, e em produção o ADN só recebe esta nota depois; se ela não existe, o ADN recusa esta nota.`,
      origin: 'Anexo I, E0044',
      why: 'O município pode ter emitido a nota por outro sistema: de uma que não está aqui não se sabe se existe, e quem a julga é o ambiente nacional.',
      must: (subst, dps, { substituida }) =>
        substituida !== 'desconhecida' || describeProblem(subst, dps) !== undefined,
      rejects: [],
      accepts: [SUBSTITUICAO],
    }),
    forbidReplacing({
      code: 'E0046',
      title: 'A nota a substituir já está cancelada',
      says: (nota) => `A ${nota}, já está cancelada, e não se substitui. Emita esta sem o grupo subst.`,
      mend: 'Confira subst/chSubstda na consulta da nota. Se ela está mesmo cancelada, emita a nova sem o grupo subst.',
      why: 'Substituir cancela a nota antiga, e uma nota se cancela uma vez.',
      is: ({ estado }) => estado === 'cancelada',
    }),
    whenPresent(readSubst, {
      ...annexHead('E0065'),
      at: 'subst/chSubstda',
      title: 'A nota a substituir é de outro ambiente gerador',
      message:
        'A chave em subst/chSubstda é de uma nota do emissor nacional (posição 8 igual a 2), e a que este serviço emite é do sistema do município. Substitua-a no emissor nacional, ou emita esta sem o grupo subst.',
      mend: 'Uma nota se substitui no ambiente que a gerou, que a posição 8 da chave diz: 1 é o sistema do município, 2 é o emissor nacional.',
      why: 'O cancelamento por substituição é registrado pelo ambiente que gerou a nota, e só ele o faz.',
      must: ({ chSubstda }) => (parseChave(chSubstda)?.ambGer ?? '1') === '1',
      found: ({ chSubstda }) => chSubstda,
      expected: 'chave com 1 na posição 8',
      rejects: [{ ...SUBSTITUICAO, 'subst/chSubstda': CHAVE_DO_EMISSOR_NACIONAL }],
      accepts: [SUBSTITUICAO],
    }),
    forbidReplacing({
      code: 'E0068',
      title: 'A nota a substituir espera por uma análise fiscal',
      says: (nota) =>
        `A ${nota}, tem uma solicitação de análise fiscal à espera de decisão, e até ela não se substitui. Espere a decisão da prefeitura.`,
      mend: 'Espere a decisão da prefeitura, que aparece nos eventos da nota. Deferida, a nota fica cancelada; indeferida, ela segue válida e só a prefeitura a cancela.',
      why: 'Quem pediu à prefeitura que analise o cancelamento espera por ela.',
      is: hasPendingAnalysis,
    }),
    forbidReplacing({
      code: 'E0072',
      title: 'A nota a substituir tem confirmação tácita',
      says: (nota) =>
        `A ${nota}, tem confirmação tácita, e não se substitui. Procure a prefeitura, que pode cancelá-la por ofício.`,
      mend: 'Procure a prefeitura: ela decide uma solicitação de análise fiscal, ou cancela a nota por ofício.',
      why: 'Com a confirmação tácita a administração deu a nota por aceita.',
      is: (nota) => hasEvento(nota, '205204'),
    }),
    forbidReplacing({
      code: 'E0076',
      title: 'A substituição da nota está bloqueada por ofício',
      says: (nota) =>
        `A prefeitura bloqueou a substituição da ${nota}. Procure a prefeitura; desbloqueada, a nota pode ser substituída.`,
      mend: 'Procure a prefeitura. Depois do desbloqueio por ofício a nota pode ser substituída.',
      why: 'O bloqueio por ofício do cancelamento por substituição vale até o desbloqueio.',
      is: ({ eventos }) => isBlocked(eventos, CANCELAMENTO_POR_SUBSTITUICAO),
    }),
    whenPresent(readSubst, {
      code: 'E1308',
      at: 'subst/chSubstda',
      scope: 'aviso',
      title: 'A nota substituta espera pelo evento da substituída',
      message: ({ chSubstda }) =>
        `Falta o cancelamento da nota substituída: registre na nota ${chSubstda} o evento cancelamento_por_substituicao, com a chave da nota nova em chave_acesso_substituta. Esta nota espera até que ele seja processado, e depois segue sozinha.`,
      mend: 'Depois de emitir a substituta, registre na nota antiga o evento cancelamento_por_substituicao, com a chave da nova em chave_acesso_substituta. A ordem no ambiente nacional é a nota antiga, o evento nela, a nota nova: esta espera com o protocolo processando, e segue sozinha quando o evento é processado.',
      origin: 'Anexo I, E1308; decisão D-54',
      why: 'O ambiente nacional só recebe a nota substituta depois do evento que, na substituída, traz a chave dela.',
      national:
        'O ambiente nacional recusa com E1308 a substituta que chega antes do evento. Aqui ela espera, e não fica recusada.',
      // E0044 and E0046 cover a note that is at its end already, or that is not here.
      when: (_subst, _dps, facts) => facts.substituida !== 'desconhecida' && !isAtItsEnd(substituidaOf(facts)),
      must: () => false,
      rejects: [],
      accepts: [],
    }),
    {
      ...annexHead('E0078'),
      at: 'subst/xMotivo',
      title: 'Substituição por outro motivo, sem dizer qual',
      message: 'Com cMotivo 99 (outros) é preciso descrever o motivo em subst/xMotivo, com 15 a 255 caracteres.',
      mend: 'Descreva o motivo em subst/xMotivo, com 15 a 255 caracteres, ou use em cMotivo um código de 01 a 05.',
      why: 'O código 99 só diz que o motivo não é dos outros.',
      when: ({ subst }) => subst?.cMotivo === '99',
      must: ({ subst }) => subst?.xMotivo !== undefined,
      expected: 'texto de 15 a 255 caracteres',
      rejects: [{ ...SUBSTITUICAO, 'subst/xMotivo': null }],
      accepts: [{ 'subst/chSubstda': CHAVE, 'subst/cMotivo': '01' }],
    },
  ],
);

type NotaDaqui = Exclude<NotaSubstituida, 'desconhecida'>;

function substituidaOf({ substituida }: Facts): NotaDaqui | undefined {
  return substituida === 'desconhecida' ? undefined : substituida;
}

function isAtItsEnd(nota: NotaDaqui | undefined): boolean {
  return nota?.estado === 'recusada' || nota?.estado === 'cancelada';
}

function hasEvento({ eventos }: NotaDaqui, codigo: string): boolean {
  return eventos.some((one) => one.codigo === codigo);
}

/** A granted analysis cancels the note; a denied one leaves it standing. */
function hasPendingAnalysis(nota: NotaDaqui): boolean {
  return hasEvento(nota, '101103') && !hasEvento(nota, '105104') && !hasEvento(nota, '105105');
}

/** The error in the key of the replaced note, as a sentence. */
function describeProblem({ chSubstda }: Subst, { cLocEmi, prest }: Dps): string | undefined {
  const chave = parseChave(chSubstda);
  if (chave === undefined) {
    return `A chave ${chSubstda}, em subst/chSubstda, não é a de uma NFS-e: o dígito verificador ou outra parte não confere.`;
  }
  if (chave.cMun !== cLocEmi) {
    return `A chave em subst/chSubstda é de uma nota do município ${chave.cMun}, e esta DPS é do município ${cLocEmi}.`;
  }
  const documento = prest.CNPJ ?? prest.CPF;
  return documento === undefined || chave.documento === documento
    ? undefined
    : 'A chave em subst/chSubstda é de uma nota de outro prestador.';
}
