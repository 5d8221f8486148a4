/** Documents of ABRASF 1.00 as clients of the legacy port write them, written by hand and not by our code. */
import { ask } from './http.ts';
import { until } from './until.ts';

export const ABRASF = 'http://www.abrasf.org.br/ABRASF/arquivos/nfse.xsd';
export const PRESTADOR = '11222333000181';

/** The content of an RPS, by the names of the model; the rest is always the same. */
export type RpsDeTeste = {
  readonly numero: number | string;
  readonly serie?: string;
  readonly tipo?: string;
  readonly emissao?: string;
  readonly natureza?: string;
  readonly regime?: string;
  readonly simples?: string;
  readonly status?: string;
  readonly substituido?: { readonly numero: string; readonly serie: string; readonly tipo: string };
  /** The elements of `Valores`, in order. */
  readonly valores?: string;
  readonly item?: string;
  readonly cMun?: string;
  readonly codigoMunicipal?: string;
  readonly discriminacao?: string;
  /** The whole `Tomador` element. */
  readonly tomador?: string;
  readonly nbs?: string;
  /** Elements after `ConstrucaoCivil`, as the extension of 2026 writes them. */
  readonly extensao?: string;
};

export const TOMADOR =
  '<Tomador><IdentificacaoTomador><CpfCnpj><Cpf>52998224725</Cpf></CpfCnpj></IdentificacaoTomador><RazaoSocial>Maria Exemplo</RazaoSocial><Endereco><Endereco>Praça da Sé</Endereco><Numero>1</Numero><Bairro>Sé</Bairro><CodigoMunicipio>3550308</CodigoMunicipio><Uf>SP</Uf><Cep>1001000</Cep></Endereco></Tomador>';

export const IBSCBS =
  '<ControleIBSCBS><CST>000</CST><cClassTrib>000001</cClassTrib><cIndOp>100301</cIndOp></ControleIBSCBS>';
const VALORES =
  '<ValorServicos>1000.00</ValorServicos><ValorDeducoes>0.00</ValorDeducoes><IssRetido>2</IssRetido><Aliquota>0.02</Aliquota>';

export function infRps(rps: RpsDeTeste, cnpj = PRESTADOR): string {
  const { numero, serie = '1', tipo = '1', emissao = '2026-11-20T10:00:00', natureza = '1', simples = '2' } = rps;
  const { status = '1', item = '1.01', cMun = '3550308', valores = VALORES, tomador = TOMADOR } = rps;
  const replaced = rps.substituido;
  return `<InfRps Id="rps${numero}"><IdentificacaoRps><Numero>${numero}</Numero><Serie>${serie}</Serie><Tipo>${tipo}</Tipo></IdentificacaoRps><DataEmissao>${emissao}</DataEmissao><NaturezaOperacao>${natureza}</NaturezaOperacao>${
    rps.regime === undefined ? '' : `<RegimeEspecialTributacao>${rps.regime}</RegimeEspecialTributacao>`
  }<OptanteSimplesNacional>${simples}</OptanteSimplesNacional><IncentivadorCultural>2</IncentivadorCultural><Status>${status}</Status>${
    replaced === undefined
      ? ''
      : `<RpsSubstituido><Numero>${replaced.numero}</Numero><Serie>${replaced.serie}</Serie><Tipo>${replaced.tipo}</Tipo></RpsSubstituido>`
  }<Servico><Valores>${valores}</Valores><ItemListaServico>${item}</ItemListaServico>${
    rps.codigoMunicipal === undefined
      ? ''
      : `<CodigoTributacaoMunicipio>${rps.codigoMunicipal}</CodigoTributacaoMunicipio>`
  }<Discriminacao>${rps.discriminacao ?? 'Desenvolvimento de sistema'}</Discriminacao><CodigoMunicipio>${cMun}</CodigoMunicipio>${
    rps.nbs === '' ? '' : `<cNBS>${rps.nbs ?? '115021000'}</cNBS>`
  }</Servico><Prestador><Cnpj>${cnpj}</Cnpj></Prestador>${tomador}${rps.extensao ?? IBSCBS}</InfRps>`;
}

/** `EnviarLoteRpsEnvio`, unsigned. */
export function loteXml(
  all: readonly RpsDeTeste[],
  { numero = '1', cnpj = PRESTADOR, quantidade = all.length, namespace = ABRASF } = {},
): string {
  const list = all.map((rps) => `<Rps>${infRps(rps, cnpj)}</Rps>`).join('');
  return `<EnviarLoteRpsEnvio xmlns="${namespace}"><LoteRps Id="lote${numero}"><NumeroLote>${numero}</NumeroLote><Cnpj>${cnpj}</Cnpj><InscricaoMunicipal>123</InscricaoMunicipal><QuantidadeRps>${quantidade}</QuantidadeRps><ListaRps>${list}</ListaRps></LoteRps></EnviarLoteRpsEnvio>`;
}

const prestador = (cnpj: string): string => `<Prestador><Cnpj>${cnpj}</Cnpj></Prestador>`;

export function porProtocolo(
  name: 'ConsultarSituacaoLoteRpsEnvio' | 'ConsultarLoteRpsEnvio',
  protocolo: string,
  cnpj = PRESTADOR,
): string {
  return `<${name} xmlns="${ABRASF}">${prestador(cnpj)}<Protocolo>${protocolo}</Protocolo></${name}>`;
}

export function porRpsXml(numero: number | string, serie = '1', tipo = '1', cnpj = PRESTADOR): string {
  return `<ConsultarNfseRpsEnvio xmlns="${ABRASF}"><IdentificacaoRps><Numero>${numero}</Numero><Serie>${serie}</Serie><Tipo>${tipo}</Tipo></IdentificacaoRps>${prestador(cnpj)}</ConsultarNfseRpsEnvio>`;
}

/** `filtros`: the elements after `Prestador`. */
export function consultaXml(filtros: string, cnpj = PRESTADOR): string {
  return `<ConsultarNfseEnvio xmlns="${ABRASF}">${prestador(cnpj)}${filtros}</ConsultarNfseEnvio>`;
}

export function cancelamentoXml(numero: string, codigo = '1', cnpj = PRESTADOR, cMun = '3550308'): string {
  return `<CancelarNfseEnvio xmlns="${ABRASF}"><Pedido><InfPedidoCancelamento Id="cancela${numero}"><IdentificacaoNfse><Numero>${numero}</Numero><Cnpj>${cnpj}</Cnpj><CodigoMunicipio>${cMun}</CodigoMunicipio></IdentificacaoNfse><CodigoCancelamento>${codigo}</CodigoCancelamento></InfPedidoCancelamento></Pedido></CancelarNfseEnvio>`;
}

const ENVELOPES = {
  '1.1': { namespace: 'http://schemas.xmlsoap.org/soap/envelope/', type: 'text/xml; charset=utf-8' },
  '1.2': { namespace: 'http://www.w3.org/2003/05/soap-envelope', type: 'application/soap+xml; charset=utf-8' },
} as const;

export const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** An envelope around the content of its Body. */
export function envelope(inside: string, versao: '1.1' | '1.2' = '1.1'): string {
  return `<e:Envelope xmlns:e="${ENVELOPES[versao].namespace}"><e:Body>${inside}</e:Body></e:Envelope>`;
}

export type RespostaDoPorto = {
  readonly status: number;
  readonly type: string | null;
  /** The whole answer. */
  readonly body: string;
  /** The inner document, unescaped. */
  readonly documento: string;
  /** The `Retry-After` header; empty if it is missing. */
  readonly retryAfter: string;
  /** The `X-Request-Id` header. */
  readonly requisicao: string;
};

export async function post(
  address: string,
  body: string | Uint8Array,
  { tenant = 'integracao', versao = '1.1' as '1.1' | '1.2', simular = '', traceparent = '' } = {},
): Promise<RespostaDoPorto> {
  const { status, headers, text } = await ask(`${address}/${tenant}/soap/nfes`, {
    method: 'POST',
    headers: {
      'Content-Type': ENVELOPES[versao].type,
      SOAPAction: '""',
      ...(simular === '' ? {} : { 'X-NFSe-Simular': simular }),
      ...(traceparent === '' ? {} : { traceparent }),
    },
    body: body as string,
  });
  const inside = /<return>([\s\S]*)<\/return>/.exec(text)?.[1] ?? '';
  const documento = inside
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&');
  return {
    status,
    type: headers.get('content-type'),
    body: text,
    documento,
    retryAfter: headers.get('retry-after') ?? '',
    requisicao: headers.get('x-request-id') ?? '',
  };
}

/** One operation with its document as text, in SOAP 1.1. */
export function call(
  address: string,
  operacao: string,
  documento: string,
  tenant = 'integracao',
  simular = '',
  traceparent = '',
): Promise<RespostaDoPorto> {
  const header =
    '<c:cabecalho xmlns:c="http://ws.speedgov.com.br/cabecalho_v1.xsd" versao="1"><versaoDados>1</versaoDados></c:cabecalho>';
  return post(
    address,
    envelope(
      `<n:${operacao} xmlns:n="${ABRASF}"><header>${escaped(header)}</header><parameters><![CDATA[${documento}]]></parameters></n:${operacao}>`,
    ),
    { tenant, simular, traceparent },
  );
}

/** Text of the first element of a name. */
export function first(xml: string, name: string): string | undefined {
  return new RegExp(`<${name}>([\\s\\S]*?)</${name}>`).exec(xml)?.[1];
}

export function all(xml: string, name: string): string[] {
  return [...xml.matchAll(new RegExp(`<${name}>([\\s\\S]*?)</${name}>`, 'g'))].map(([, text]) => text!);
}

/** Sends a lot and waits until it is processed. */
export async function sendLote(
  address: string,
  xml: string,
  tenant = 'integracao',
  { cnpj = PRESTADOR, simular = '' } = {},
) {
  const sent = await call(address, 'RecepcionarLoteRps', xml, tenant, simular);
  const protocolo = first(sent.documento, 'Protocolo');
  if (protocolo === undefined) throw new Error(sent.body);
  const situation = porProtocolo('ConsultarSituacaoLoteRpsEnvio', protocolo, cnpj);
  const { situacao } = await until(async () => {
    const { documento } = await call(address, 'ConsultarSituacaoLoteRps', situation, tenant);
    const situacao = first(documento, 'Situacao');
    return situacao === '2' ? undefined : { situacao };
  }, 'the end of a lot');
  const asked = porProtocolo('ConsultarLoteRpsEnvio', protocolo, cnpj);
  const { documento } = await call(address, 'ConsultarLoteRps', asked, tenant);
  return { protocolo, situacao, documento };
}
