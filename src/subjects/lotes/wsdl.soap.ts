/**
 * The description of the legacy port: WSDL 1.1 and its imported schema, as other services of these names publish them. A request element
 * holds `header` and `parameters`, both text, and its `…Response` holds `return`. The addresses are those of the request.
 */
import { escapeAttribute } from '../../fiscal/layout/escape.ts';
import { OPERACOES } from './porto.ts';

const NAMES = OPERACOES.map(({ operacao }) => operacao);

/** `address`: the address of the port; `namespace`: its target namespace. */
export function wsdlOf(address: string, namespace: string): string {
  const tns = escapeAttribute(namespace);
  const messages = NAMES.flatMap((name) => [name, `${name}Response`]).map(
    (name) => `  <message name="${name}"><part name="parameters" element="tns:${name}"/></message>`,
  );
  const ports = NAMES.map(
    (name) => `    <operation name="${name}">
      <input wsam:Action="${tns}/Nfes/${name}Request" message="tns:${name}"/>
      <output wsam:Action="${tns}/Nfes/${name}Response" message="tns:${name}Response"/>
    </operation>`,
  );
  const bindings = NAMES.map(
    (name) => `    <operation name="${name}">
      <soap:operation soapAction=""/>
      <input><soap:body use="literal"/></input>
      <output><soap:body use="literal"/></output>
    </operation>`,
  );
  return `<?xml version="1.0" encoding="UTF-8"?>
<definitions name="Nfes" targetNamespace="${tns}" xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:tns="${tns}" xmlns:xsd="http://www.w3.org/2001/XMLSchema" xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/" xmlns:wsam="http://www.w3.org/2007/05/addressing/metadata">
  <types>
    <xsd:schema>
      <xsd:import namespace="${tns}" schemaLocation="${escapeAttribute(address)}?xsd=1"/>
    </xsd:schema>
  </types>
${messages.join('\n')}
  <portType name="Nfes">
${ports.join('\n')}
  </portType>
  <binding name="NfesPortBinding" type="tns:Nfes">
    <soap:binding transport="http://schemas.xmlsoap.org/soap/http" style="document"/>
${bindings.join('\n')}
  </binding>
  <service name="Nfes">
    <port name="NfesPort" binding="tns:NfesPortBinding">
      <soap:address location="${escapeAttribute(address)}"/>
    </port>
  </service>
</definitions>
`;
}

export function xsdOf(namespace: string): string {
  const tns = escapeAttribute(namespace);
  const elements = NAMES.flatMap((name) => [name, `${name}Response`]).map(
    (name) => `  <xs:element name="${name}" type="tns:${name}"/>`,
  );
  const types = NAMES.map(
    (name) => `  <xs:complexType name="${name}">
    <xs:sequence>
      <xs:element name="header" type="xs:string" minOccurs="0"/>
      <xs:element name="parameters" type="xs:string" minOccurs="0"/>
    </xs:sequence>
  </xs:complexType>
  <xs:complexType name="${name}Response">
    <xs:sequence>
      <xs:element name="return" type="xs:string" minOccurs="0"/>
    </xs:sequence>
  </xs:complexType>`,
  );
  return `<?xml version="1.0" encoding="UTF-8"?>
<xs:schema version="1.0" targetNamespace="${tns}" xmlns:tns="${tns}" xmlns:xs="http://www.w3.org/2001/XMLSchema">
${elements.join('\n')}
${types.join('\n')}
</xs:schema>
`;
}
