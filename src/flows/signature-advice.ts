/**
 * What to tell the author of a signing program: the verdict in one sentence, and the steps that mend what was found. The
 * faults themselves say what is wrong and where; a step says only what to do.
 */
import { ENVELOPED, REQUIRED } from '../documents/signed.ts';
import { errorOf } from '../fiscal/errors.ts';
import type { Fault } from '../fiscal/fault.ts';

/** `namesParty`: whether the document says whose certificate it must be. */
export function verdictOf(faults: readonly Fault[], { namesParty }: { readonly namesParty: boolean }): string {
  if (faults.length === 0) {
    return namesParty
      ? 'A produção aceitaria esta assinatura.'
      : 'A produção aceitaria esta assinatura, se o certificado for da parte certa: o documento não diz qual é, e isso não foi conferido.';
  }
  const codes = [...new Set(faults.map(({ codigo }) => codigo))];
  const named = codes.map((codigo) => `${codigo} (${errorOf(codigo)?.mensagem ?? 'sem descrição'})`);
  return `A produção recusaria esta assinatura: ${named.join(', ')}.`;
}

type Known = {
  /** Name of the document's element; undefined for a JSON body. */
  readonly root: string | undefined;
  /** The digest as it should be declared. */
  readonly calculado: string | undefined;
};

/** In the order in which they are to be taken, each once. Empty when there is nothing to mend. */
export function stepsFor(faults: readonly Fault[], known: Known): readonly string[] {
  const steps = faults.flatMap((fault) => (fault.codigo === 'E901' ? stepsToSign(known) : stepFor(fault, known)));
  if (known.root !== undefined && known.root !== 'DPS') {
    steps.unshift(
      `O documento é ${known.root}, e aqui se confere a assinatura de uma DPS: envie a DPS, sem nada em volta.`,
    );
  }
  if (faults.some(({ codigo, mensagem }) => codigo === 'E902' && !mensagem.includes('não desfaz a assinatura'))) {
    steps.push(
      'Feito isso, assine de novo e por último: DigestValue, depois SignatureValue, e envie os mesmos bytes, sem reindentar nem recodificar.',
    );
  }
  return [...new Set(steps)];
}

/** From nothing to a signature, for whoever writes the program that makes it. */
function stepsToSign({ calculado }: Known): string[] {
  const digest =
    calculado === undefined
      ? 'Em DigestValue ponha o SHA-256, em Base64, da forma canônica exclusiva de infDPS.'
      : `Em DigestValue ponha ${calculado}: é o SHA-256, em Base64, dos bytes UTF-8 de forma_canonica.`;
  return [
    digest,
    `Em SignedInfo use CanonicalizationMethod ${REQUIRED.CanonicalizationMethod}, SignatureMethod ${REQUIRED.SignatureMethod} e uma só Reference, com URI="#" e o Id de infDPS, as transformações ${ENVELOPED} e ${REQUIRED.CanonicalizationMethod}, e DigestMethod ${REQUIRED.DigestMethod}.`,
    'Canonicalize SignedInfo (C14N exclusiva, com o xmlns de Signature), assine com RSA-SHA256 e a chave do certificado, e ponha o resultado, em Base64, em SignatureValue.',
    'Em KeyInfo/X509Data/X509Certificate ponha o certificado do prestador, em DER e Base64, sem cabeçalhos nem quebras de linha.',
    'Ponha Signature depois de infDPS, dentro de DPS, e envie sem mexer mais no documento. O comando nfse assinar faz tudo isso.',
  ];
}

function stepFor({ codigo, xpath, mensagem, esperado }: Fault, { calculado }: Known): string {
  if (mensagem.includes('Confira o relógio'))
    return 'Confira o relógio de quem emitiu, ou espere que o certificado comece a valer.';
  // Whose certificate it is and whether it is still valid mends the same way for everybody.
  if (['E903', 'E906', 'E9006', 'E9007'].includes(codigo)) return errorOf(codigo)?.comoResolver ?? mensagem;
  if (codigo !== 'E902') return anchorStep(mensagem) ?? actionIn(mensagem, xpath) ?? mensagem;
  const algorithm = /\/(\w+)\/@Algorithm$/.exec(xpath)?.[1];
  if (algorithm !== undefined && esperado !== undefined) return `Em ${algorithm} ponha Algorithm="${esperado}".`;
  if (xpath.endsWith('/Reference/@URI') && esperado !== undefined) return `Na Reference ponha URI="${esperado}".`;
  if (xpath.endsWith('/DigestValue') && calculado !== undefined) return digestStep(mensagem, calculado);
  if (xpath.endsWith('/Reference/Transforms') && esperado !== undefined && !mensagem.includes('são as certas')) {
    return `Em Transforms ponha, nesta ordem: ${esperado.replace(' ', ' e ')}.`;
  }
  for (const [told, step] of SHAPE_STEPS) {
    const match = told.exec(mensagem);
    if (match !== null) return step.replace('$1', match[1] ?? '');
  }
  const ofValue = xpath.endsWith('/SignatureValue') ? VALUE_ADVICE.exec(mensagem)?.[0] : undefined;
  return actionIn(mensagem, xpath) ?? ofValue ?? mensagem;
}

/** What mends an arrangement, by what is told of it: the messages themselves say only what was found. */
const SHAPE_STEPS: readonly (readonly [RegExp, string])[] = [
  [/ aparece em dois elementos: /, 'Dê a cada elemento um identificador só seu; o de infDPS é o que se assina.'],
  [/^(?:Há um infDPS em|O documento assinado deve ter um só infDPS)/, 'Deixe um só infDPS, diretamente dentro de DPS.'],
  [/^A assinatura está em /, 'Ponha a assinatura depois de infDPS, dentro de DPS, e só ali.'],
  [/^O documento deve ter uma só Signature/, 'Deixe uma só Signature: a do prestador.'],
  [/^O elemento (\S+) está fora do que a assinatura cobre/, 'Tire $1 de DPS.'],
  [/^O documento traz um comentário/, 'Tire todo comentário do documento.'],
  [
    /^O documento traz uma instrução/,
    'Tire toda instrução de processamento do documento (<?…?>, menos a declaração <?xml …?>).',
  ],
];

/** From the first imperative on, a message says what to do. One that only points back is of no use without the rest. */
const ACTION =
  /(?:^|[.;:,] (?:e )?)((?:assine|codifique|configure|deixe|envie|inclua|inverta|peça|ponha)(?![-\p{L}]).+)$/isu;
const VALUE_ADVICE = /(?<=\. )SignedInfo .+$/s;

/** The part of a message that tells what to do, in which element. */
function actionIn(mensagem: string, xpath: string): string | undefined {
  const action = ACTION.exec(mensagem)?.[1];
  if (action === undefined) return undefined;
  const element = xpath.split('/').at(-1) ?? '';
  const campo = /[Cc]abeçalho ([\w-]+)/.exec(mensagem)?.[1];
  const named = action
    .replace(/ponha nele/i, `ponha em ${element}`)
    .replace('nesse cabeçalho', `no cabeçalho ${campo}`);
  const isOfElement = element !== '' && /^(?:configure|envie|inverta)/i.test(named) && !named.includes(element);
  return isOfElement ? `Em ${element}: ${lowerFirst(named)}` : upperFirst(named);
}

/** An authority that nobody knows is, most of the time, one of a certificate that cannot sign at all. */
const UNKNOWN_AUTHORITY = /(autoridade|raiz) "(.+?)"[\s\S]* pasta de âncoras\.$/;

function anchorStep(mensagem: string): string | undefined {
  const [, what, name] = UNKNOWN_AUTHORITY.exec(mensagem) ?? [];
  if (what === undefined) return undefined;
  const send = mensagem.includes('envie-o junto') ? `envie o certificado dela junto com a assinatura, ou ` : '';
  return `Veja primeiro se o certificado é mesmo da ICP-Brasil: se não é, assine com um que seja. Se é, e a ${what} "${name}" também, ${send}peça ao município que ponha o certificado dela, em PEM, na sua pasta de âncoras.`;
}

function digestStep(mensagem: string, calculado: string): string {
  // Of a habit that was recognised the message tells all.
  const how = mensagem.includes('O resumo declarado ')
    ? 'é o SHA-256, em Base64, da forma canônica exclusiva de infDPS em UTF-8'
    : 'compare, byte a byte, o que o seu programa resume com a forma canônica (forma_canonica)';
  return `Para este conteúdo o DigestValue é ${calculado}: ${how}.`;
}

function upperFirst(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
