/**
 * The trust behind a signature's certificate, as files: the certificate, its authorities, and their revocation lists. The stored basis of
 * the original judgement is used. The municipality's present trust replaces a missing basis, and the page says so.
 */

import type { Municipio } from '../../base/book/municipios.ts';
import { municipalMoment } from '../../base/world/gather-facts.ts';
import type { World } from '../../base/world/world.ts';
import { type Certificate, isSignedBy, readCertificate } from '../../documents/certificate.ts';
import { type Crl, readCrl } from '../../documents/crl.ts';
import { pemOf } from '../../documents/pki.ts';
import { openTrust, type Trust } from '../../documents/trust.ts';
import { isoMoment } from '../../fiscal/moment.ts';
import type { ArquivoDoConjunto, Conferencia } from './partes.ts';

/**
 * The basis of a signature's judgement, by its number in the documents; null: it was not stored. The municipality's own signature is not
 * judged.
 */
export type Confianca = number | null | 'própria';

/** The signer of a signature, and the moment of its judgement: `at` in milliseconds. `pasta`: the folder of the files. */
export type Signatario = {
  readonly pasta: string;
  readonly certificate: Certificate;
  readonly at: number;
  /** Certificates that accompanied the signature. */
  readonly extra?: readonly Certificate[];
  readonly confianca: Confianca;
};

export type Cadeia = {
  readonly paragrafos: readonly string[];
  readonly arquivos: readonly ArquivoDoConjunto[];
  readonly conferencias: readonly Conferencia[];
};

const SILENT = { warn: () => undefined };

/** The trust of a municipality for a command, which logs no warnings about it. */
function openTrustOf({ confianca }: Municipio): Trust {
  return openTrust(confianca, SILENT);
}

export async function gatherCadeia(
  { store }: Pick<World, 'store'>,
  municipio: Municipio,
  signatario: Signatario,
): Promise<Cadeia> {
  const { pasta, certificate, at, extra, confianca } = signatario;
  const own: ArquivoDoConjunto = {
    nome: `${pasta}/signatario.pem`,
    conteudo: Buffer.from(pemOf('CERTIFICATE', certificate.der)),
    oQue: `O certificado de quem assinou: ${certificate.titular}, emitido por ${certificate.emissor}.`,
  };
  const kept = typeof confianca !== 'number' ? undefined : await findKept(store, municipio, certificate, confianca);
  const today = kept === undefined ? openTrustOf(municipio).fundamento(certificate, at, extra) : undefined;
  const found = kept ?? (today && { cadeia: today.cadeia.map(derOf), listas: today.listas.map(derOf) });
  if (found === undefined || found.cadeia.length === 0) {
    return { paragrafos: [UNKNOWN], arquivos: [own], conferencias: [] };
  }
  const authorities = found.cadeia.flatMap((der) => {
    const read = readCertificate(der);
    return 'problem' in read ? [] : [read];
  });
  const lists = found.listas.map(readList);
  const moment = isoMoment(municipalMoment(municipio.codigoIbge, at));
  const chain = [certificate, ...authorities].map(({ titular }) => titular).join(' › ');
  const source =
    confianca === 'própria'
      ? 'A assinatura é do próprio município: as autoridades que estão aqui são aquelas em que ele confia hoje.'
      : kept === undefined
        ? 'Por que autoridades a assinatura foi aceita não ficou guardado: as que estão aqui são aquelas em que o município confia hoje.'
        : 'São as autoridades e as listas por que a assinatura foi aceita ao chegar, guardadas então.';
  return {
    paragrafos: [`A cadeia, do certificado à raiz: ${chain}. ${source}`, ...describeLists(lists, authorities, at)],
    arquivos: [own, ...filesOf(pasta, authorities, found.listas)],
    conferencias: [
      {
        oQue: `O certificado era válido e reconhecido em ${moment}`,
        comando: verifyCommand(pasta, { authorities, lists, at }),
        resposta: `${pasta}/signatario.pem: OK`,
      },
    ],
  };
}

/** The stored basis, if it fits this certificate: a reset sandbox gives its numbers anew. */
async function findKept(store: World['store'], { tenant }: Municipio, certificate: Certificate, confianca: number) {
  const kept = await store.fundamentos.find(tenant, confianca);
  const [issuer] = (kept?.cadeia ?? []).map(readCertificate);
  return issuer !== undefined && !('problem' in issuer) && isSignedBy(certificate, issuer) ? kept : undefined;
}

const UNKNOWN =
  'O município não reconhece a autoridade que emitiu este certificado: a assinatura se confere, mas quem a fez é só o que o certificado diz de si.';

const derOf = ({ der }: { readonly der: Buffer }): Buffer => der;

/** Parses a stored list; undefined: it does not read. */
function readList(der: Buffer): Crl | undefined {
  const reading = readCrl(der);
  for (;;) {
    const { done, value } = reading.next();
    if (done === true) return 'problem' in value ? undefined : value;
  }
}

function filesOf(
  pasta: string,
  authorities: readonly Certificate[],
  lists: readonly Buffer[],
): readonly ArquivoDoConjunto[] {
  const pem = (some: readonly Certificate[]): Buffer => Buffer.from(pemOf('CERTIFICATE', ...some.map(derOf)));
  const between = authorities.slice(0, -1);
  const anchor = authorities.at(-1)!;
  return [
    ...(between.length === 0
      ? []
      : [{ nome: `${pasta}/autoridades.pem`, conteudo: pem(between), oQue: 'As autoridades entre ele e a âncora.' }]),
    {
      nome: `${pasta}/ancora.pem`,
      conteudo: pem([anchor]),
      oQue: `A autoridade em que o município confia: ${anchor.titular}. Compare-a com a que ela mesma publica; as raízes da ICP-Brasil estão em repositorio.iti.gov.br.`,
    },
    ...(lists.length === 0
      ? []
      : [
          {
            nome: `${pasta}/listas.pem`,
            conteudo: Buffer.from(pemOf('X509 CRL', ...lists)),
            oQue: 'As listas de certificados revogados dessas autoridades.',
          },
        ]),
  ];
}

type Known = {
  readonly authorities: readonly Certificate[];
  readonly lists: readonly (Crl | undefined)[];
  readonly at: number;
};

/** Whether a list of an authority was in force at the moment and covered all its certificates. */
function hasListInForce({ lists, at }: Known, authority: Certificate): boolean {
  return lists.some(
    (list) =>
      list?.isWhole === true &&
      list.emitida <= at &&
      (list.proxima === undefined || list.proxima >= at) &&
      list.isSignedBy(authority),
  );
}

function verifyCommand(pasta: string, known: Known): string {
  const { authorities, lists, at } = known;
  const isWhole = authorities.every((one) => hasListInForce(known, one));
  const check = isWhole ? ' -crl_check_all' : hasListInForce(known, authorities[0]!) ? ' -crl_check' : '';
  return [
    `openssl verify -no-CApath -no-CAstore -partial_chain -attime ${Math.floor(at / 1000)}`,
    ` -CAfile ${pasta}/ancora.pem`,
    authorities.length > 1 ? ` -untrusted ${pasta}/autoridades.pem` : '',
    lists.length > 0 ? ` -CRLfile ${pasta}/listas.pem${check}` : '',
    ` ${pasta}/signatario.pem`,
  ].join('');
}

function describeLists(
  lists: readonly (Crl | undefined)[],
  authorities: readonly Certificate[],
  at: number,
): readonly string[] {
  const without = authorities.slice(0, Math.max(1, authorities.length - 1));
  const missing = without.filter((one) => !hasListInForce({ authorities, lists, at }, one));
  if (missing.length === 0) {
    return ['O comando confere também, pelas listas, que o certificado não estava revogado naquele momento.'];
  }
  const names = missing.map(({ titular }) => titular).join(', ');
  return [
    `De ${names} não há lista de revogados que valesse naquele momento: do que essas autoridades emitiram, o comando não confere a revogação.`,
  ];
}
